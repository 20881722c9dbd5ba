--- nn.L1Penalty(l1weight, sizeAverage, provideOutput): returns its input and stores the penalty
-- l1weight |x|_1 in the field loss; backward adds the penalty's gradient. With sizeAverage the
-- penalty is divided by the element count.
-- Invariant: loss is a number, so forward waits for one value. With provideOutput = false gradInput
-- is only the penalty's gradient. If the module gets part of a batch (nn.DataParallelTable,
-- nn.DistributedDataParallel), loss is the penalty of the part, and the parts' gradients sum to
-- that of the whole batch.
-- @function nn.L1Penalty
-- @within nn transfer
-- @as layer
-- @param l1weight factor of the penalty
-- @param provideOutput false: backward ignores gradOutput
-- @return a module; forward: any tensor -> the same
-- @usage nn.L1Penalty(0.1):forward(torch.Tensor{-1, 2}) --> [-1 2]

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local L1Penalty, parent = torch.class('nn.L1Penalty', 'nn.Module')

function L1Penalty:__init(l1weight, sizeAverage, provideOutput)
   parent.__init(self)
   self.l1weight = l1weight
   self.sizeAverage = sizeAverage or false
   self.provideOutput = provideOutput == nil and true or provideOutput
end

--- The part of the batch that a pass handles. A module whose backward adds the gradient of its own
-- loss declares this field, so that parts of a batch sum to the whole. In passes of
-- nn.DataParallelTable and nn.DistributedDataParallel it is a table {share = n}: multiply a loss
-- that is a mean over the batch by n (the part's rows / all rows), and one that is a sum by 1.
-- share is nil if it is unknown (in noSync of several ranks, and in updateGradInput called alone);
-- such a module then raises.
-- @field nn.L1Penalty.batchPart
-- @as author
-- @follows dpt's own
-- @return false
-- @usage nn.L1Penalty.batchPart, nn.Linear.batchPart --> false, nil
L1Penalty.batchPart = false

--- Returns the penalty's weight for an input: l1weight, divided by the element count with
-- sizeAverage.
-- @function nn.L1Penalty:weightFor
-- @as author
-- @param input tensor: of any size
-- @return a number
-- @usage nn.L1Penalty(6, true):weightFor(torch.ones(3)) --> 2
function L1Penalty:weightFor(input)
   return self.sizeAverage and self.l1weight / input:nElement() or self.l1weight
end

function L1Penalty:updateOutput(input)
   self.loss = self:weightFor(input) * input:norm(1)
   self.output = input
   return self.output
end

function L1Penalty:updateGradInput(input, gradOutput)
   local part, weight = self.batchPart, self:weightFor(input)
   if part and not part.share then
      fail('nn.L1Penalty: adds a loss of its own, which with several ranks requires a backward of'
         .. ' all ranks; noSync and updateGradInput alone do not support it')
   end
   if part and self.sizeAverage then weight = weight * part.share end
   self.gradInput:resizeAs(input):sign(input):mul(weight)
   if self.provideOutput then self.gradInput:add(1, gradOutput) end
   return self.gradInput
end

return L1Penalty
