--- nn.L1Penalty(l1weight, sizeAverage, provideOutput): passes its input on, adds the gradient of
-- l1weight |x|_1 on the way back and leaves that penalty in the field loss.
-- Invariant: loss is a number, so forward reads one value; with provideOutput false the gradient is
-- the penalty's alone. Where the module has a part of a batch (nn.DataParallelTable,
-- nn.DistributedDataParallel) loss is the part's, and the parts' gradients add up to that of the
-- whole batch.
-- @function nn.L1Penalty
-- @within nn transfer
-- @as layer
-- @param l1weight the factor of the penalty
-- @param provideOutput false: the output is the penalty alone
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

--- The part of the batch that the pass has: what a module declares which adds the gradient of a
-- loss of its own in its backward, so that parts of a batch add up to the whole one's. In passes of
-- nn.DataParallelTable and nn.DistributedDataParallel it is a table {share = n}: a loss that is a
-- mean over the batch counts n times (the part's rows / all rows), one that is a sum over the batch
-- counts once. share is nil where it is unknown (noSync of several ranks, updateGradInput by
-- itself): then such a module raises.
-- @field nn.L1Penalty.batchPart
-- @as author
-- @follows dpt's own
-- @return false
-- @usage nn.L1Penalty.batchPart, nn.Linear.batchPart --> false, nil
L1Penalty.batchPart = false

--- The penalty's weight for an input, divided by its elements if sizes are averaged.
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
      fail('nn.L1Penalty: adds a loss of its own, which several ranks count in a backward of all of'
         .. ' them alone, not in noSync and not in updateGradInput by itself')
   end
   if part and self.sizeAverage then weight = weight * part.share end
   self.gradInput:resizeAs(input):sign(input):mul(weight)
   if self.provideOutput then self.gradInput:add(1, gradOutput) end
   return self.gradInput
end

return L1Penalty
