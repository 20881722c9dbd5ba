--- How much of the communication of a training step runs beside its backward pass.
--
-- Invariant: one step three ways, without communication (noSync), with it beside the backward pass,
-- and with it behind that; what is hidden is the part of the third that the second saves. Ranks
-- meet at the end of each, so that waiting for the slowest is in all three.
local distributed = require 'dpt.distributed'
local hidden = {}

--- @param net nn.DataParallelTable or nn.DistributedDataParallel
-- @return three functions: none, beside, behind
function hidden.ways(net, input, gradOutput)
   local function step(overlap)
      net.overlap = overlap
      net:zeroGradParameters()
      net:forward(input)
      net:backward(input, gradOutput)
      cutorch.synchronizeAll()
      distributed.barrier()
   end
   for _ = 1, 2 do step(true) end
   return function() net:noSync(step, true) end, function() step(true) end,
      function() step(false) end
end

--- The part of 1 that is hidden, by the seconds of the three.
function hidden.share(none, beside, behind) return (behind - beside) / (behind - none) end

return hidden
