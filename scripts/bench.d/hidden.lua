--- Measures how much of a training step's communication overlaps with its backward pass.
--
-- Invariant: one step is timed three ways: without communication (noSync), with communication
-- during the backward pass, and with communication after it. The hidden part is the time that the
-- second way saves over the third. Ranks synchronize at the end of each step, so all three times
-- include waiting for the slowest rank.
local distributed = require 'dpt.distributed'
local hidden = {}

--- Returns the three ways to run a step.
-- @param net nn.DataParallelTable or nn.DistributedDataParallel
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

--- Returns the share of the communication that is hidden (0 to 1), from the seconds of a step of
-- each way.
function hidden.share(none, beside, behind) return (behind - beside) / (behind - none) end

return hidden
