--- nn.CriterionTable(criterion): wraps a criterion as a module whose input is {input, target}.
-- Invariant: output is the criterion's loss, a number; gradInput holds the criterion's gradients.
-- @function nn.CriterionTable
-- @within nn tables
-- @as layer
-- @return a module; forward: {input, target} -> the loss
-- @usage nn.CriterionTable(nn.MSECriterion()) :forward{torch.Tensor{1, 2}, torch.Tensor{1,
--       4}} --> 2

local torch = require 'dpt.tensor'

local CriterionTable, parent = torch.class('nn.CriterionTable', 'nn.Module')

function CriterionTable:__init(criterion)
   parent.__init(self)
   self.criterion = criterion
   self.gradInput = {criterion.gradInput}
end

function CriterionTable:updateOutput(input)
   self.output = self.criterion:updateOutput(input[1], input[2])
   return self.output
end

function CriterionTable:updateGradInput(input, _)
   self.gradInput[1] = self.criterion:updateGradInput(input[1], input[2])
   return self.gradInput
end

return CriterionTable
