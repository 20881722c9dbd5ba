--- nn.ParallelCriterion(repeatTarget): the weighted sum of several criterions; criterion i is
-- applied to entry i of the input and of the target table.
-- Invariant: with repeatTarget every criterion gets the whole target.
-- @function nn.ParallelCriterion
-- @within nn criterions
-- @as criterion
-- @param repeatTarget true: all criterions get the same target
-- @return a criterion; forward takes tables with an entry per criterion, returns the loss
-- @usage
--    nn.ParallelCriterion():add(nn.MSECriterion()):add(nn.AbsCriterion()):forward({torch.Tensor{2},
--    torch.Tensor{2}}, {torch.Tensor{3}, torch.Tensor{4}}) --> 3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local captured = require 'dpt.device.captured'
local checkChild = require('dpt.nn.child').check

local ParallelCriterion, parent = torch.class('nn.ParallelCriterion', 'nn.Criterion')

function ParallelCriterion:__init(repeatTarget)
   parent.__init(self)
   self.criterions = {}
   self.weights = {}
   self.gradInput = {}
   self.repeatTarget = repeatTarget
end

--- Adds a criterion for the next entry of input and target, with a weight (1).
-- @function nn.ParallelCriterion:add
-- @as criterion
-- @within nn criterions
-- @param criterion criterion: is applied to one entry of the input and the target
-- @param weight? number: factor of its loss (1)
-- @return the criterion
-- @usage nn.ParallelCriterion()
--       :add(nn.AbsCriterion(), 3) :forward({torch.Tensor{1}}, {torch.Tensor{2}}) --> 3
function ParallelCriterion:add(criterion, weight)
   self.criterions[#self.criterions + 1] = checkChild(self, 'add', 'criterion', criterion)
   self.weights[#self.weights + 1] = weight or 1
   return self
end

function ParallelCriterion:updateOutput(input, target)
   captured.noteList(self, 'weights', #self.criterions)
   self.output = 0
   for i, criterion in ipairs(self.criterions) do
      local own = self.repeatTarget and target or target[i]
      self.output = self.output + self.weights[i] * criterion:updateOutput(input[i], own)
   end
   return self.output
end

function ParallelCriterion:terms(input, target)
   local list = {}
   for i, criterion in ipairs(self.criterions) do
      criterion:addTerms(list, self.weights[i], input[i], self.repeatTarget and target or target[i])
   end
   return list
end

function ParallelCriterion:denominators(list, input, target)
   for i, criterion in ipairs(self.criterions) do
      local first = #list + 1
      criterion:denominators(list, input[i], self.repeatTarget and target or target[i])
      for k = first, #list do list[k].entry = i end
   end
   return list
end

function ParallelCriterion:updateGradInput(input, target)
   captured.noteList(self, 'weights', #self.criterions)
   self.gradInput = nn.utils.recursiveResizeAs(self.gradInput, input)
   nn.utils.recursiveFill(self.gradInput, 0)
   for i, criterion in ipairs(self.criterions) do
      local own = self.repeatTarget and target or target[i]
      nn.utils.recursiveAdd(self.gradInput[i], self.weights[i],
         criterion:partGradient(input[i], own))
   end
   return self.gradInput
end

function ParallelCriterion:type(typename, tensorCache)
   if typename then self.gradInput = {} end
   return parent.type(self, typename, tensorCache)
end

return ParallelCriterion
