--- nn.WeightedMSECriterion(weight, sizeAverage): sums (x - w y)^2, where w is a tensor of weights.
-- Invariant: a batch has one more dimension than the weights, which all its rows share.
-- @function nn.WeightedMSECriterion
-- @within nn criterions
-- @as criterion
-- @param weight factor of each target element
-- @return a criterion; forward takes two tensors of the weight's size, or batches of them, and
--    returns the loss
-- @usage nn.WeightedMSECriterion(torch.Tensor{1, 2}) :forward(torch.Tensor{1, 2},
--       torch.Tensor{2, 5}) --> 32.5

local torch = require 'dpt.tensor'

local WeightedMSECriterion, parent = torch.class('nn.WeightedMSECriterion', 'nn.MSECriterion')

function WeightedMSECriterion:__init(weight, sizeAverage)
   parent.__init(self, sizeAverage)
   self.weight = weight:clone()
end

-- Returns the target times the weights.
local function weighted(self, input, target)
   local weight = self.weight
   if input:dim() == weight:dim() + 1 then
      local size = weight:size():totable()
      table.insert(size, 1, 1)
      weight = weight:view(torch.LongStorage(size)):expandAs(input)
   end
   return torch.cmul(self:valuesFor(input, target), weight)
end

function WeightedMSECriterion:updateLoss(input, target)
   return parent.updateLoss(self, input, weighted(self, input, target))
end

function WeightedMSECriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, weighted(self, input, target))
end

return WeightedMSECriterion
