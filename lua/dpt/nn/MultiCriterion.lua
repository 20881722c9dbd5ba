--- nn.MultiCriterion(): the weighted sum of several criterions, all applied to the same input and
-- target.
-- Invariant: the container owns gradInput.
-- @function nn.MultiCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes the input and target of its criterions, returns the loss
-- @usage nn.MultiCriterion():add(nn.MSECriterion())
--       :add(nn.AbsCriterion(), 0.5) :forward(torch.Tensor{2}, torch.Tensor{5}) --> 10.5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local captured = require 'dpt.device.captured'
local checkChild = require('dpt.nn.child').check

local MultiCriterion, parent = torch.class('nn.MultiCriterion', 'nn.Criterion')

function MultiCriterion:__init()
   parent.__init(self)
   self.criterions = {}
   self.weights = torch.DoubleStorage()
end

--- Adds a criterion with a weight (1).
-- @function nn.MultiCriterion:add
-- @as criterion
-- @within nn criterions
-- @param criterion criterion: is applied to the same input and target as the others
-- @param weight? number: factor of its loss (1)
-- @return the criterion
-- @usage nn.MultiCriterion():add(nn.MSECriterion(), 2) :forward(torch.Tensor{1},
--       torch.Tensor{2}) --> 2
function MultiCriterion:add(criterion, weight)
   self.criterions[#self.criterions + 1] = checkChild(self, 'add', 'criterion', criterion)
   self.weights:resize(#self.criterions)
   self.weights[#self.criterions] = weight or 1
   return self
end

function MultiCriterion:updateOutput(input, target)
   captured.noteList(self, 'weights', #self.criterions)
   self.output = 0
   for i, criterion in ipairs(self.criterions) do
      self.output = self.output + self.weights[i] * criterion:updateOutput(input, target)
   end
   return self.output
end

function MultiCriterion:terms(input, target)
   local list = {}
   for i, criterion in ipairs(self.criterions) do
      criterion:addTerms(list, self.weights[i], input, target)
   end
   return list
end

function MultiCriterion:denominators(list, input, target)
   for _, criterion in ipairs(self.criterions) do criterion:denominators(list, input, target) end
   return list
end

function MultiCriterion:updateGradInput(input, target)
   captured.noteList(self, 'weights', #self.criterions)
   self.gradInput = nn.utils.recursiveResizeAs(self.gradInput, input)
   nn.utils.recursiveFill(self.gradInput, 0)
   for i, criterion in ipairs(self.criterions) do
      nn.utils.recursiveAdd(self.gradInput, self.weights[i],
         criterion:partGradient(input, target))
   end
   return self.gradInput
end

return MultiCriterion
