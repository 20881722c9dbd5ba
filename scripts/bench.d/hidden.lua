--- Measures how much of a training step's communication overlaps with its backward pass.
--
-- Invariant: one step is timed three ways: without communication (noSync), with communication
-- during the backward pass, and with communication after it. The hidden part is the time that the
-- second saves over the third. Ranks synchronize at the end of each step, so waiting for the
-- slowest is in all three.
local distributed = require 'dpt.distributed'
local hidden = {}

--- @param net nn.DataParallelTable or nn.DistributedDataParallel
-- @return three functions: without communication, during the backward pass, after it
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

--- Returns the share of the communication that is hidden (0 to 1), from the seconds of the three.
function hidden.share(none, beside, behind) return (behind - beside) / (behind - none) end

return hidden
