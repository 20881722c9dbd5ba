--- nn.WeightedMSECriterion(weight, sizeAverage): (w x - w y)^2, summed, with a tensor w of weights.
-- What must stay true: a batch has one more dimension than the weights, which its rows share.

local torch = require 'dpt.tensor'

local WeightedMSECriterion, parent = torch.class('nn.WeightedMSECriterion', 'nn.MSECriterion')

function WeightedMSECriterion:__init(weight, sizeAverage)
   parent.__init(self, sizeAverage)
   self.weight = weight:clone()
end

-- target's and input's weighted copies; the weights spread over the input
local function weighted(self, input, target)
   local weight = self.weight
   if input:dim() == weight:dim() + 1 then
      local size = weight:size():totable()
      table.insert(size, 1, 1)
      weight = weight:view(torch.LongStorage(size)):expandAs(input)
   end
   return torch.cmul(input, weight), torch.cmul(self:valuesFor(input, target), weight), weight
end

function WeightedMSECriterion:updateOutput(input, target)
   local x, y = weighted(self, input, target)
   return parent.updateOutput(self, x, y)
end

function WeightedMSECriterion:updateGradInput(input, target)
   local x, y, weight = weighted(self, input, target)
   parent.updateGradInput(self, x, y)
   self.gradInput:cmul(weight)
   return self.gradInput
end

return WeightedMSECriterion
