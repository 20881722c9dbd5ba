--- nn.BCECriterion(weights, sizeAverage): binary cross-entropy, -(y log x + (1 - y) log(1 - x)),
-- averaged over the elements, or summed if sizeAverage is false. x are probabilities, y targets
-- between 0 and 1.
-- Invariant: weights has one element per column of the target and applies to every row of a batch.
-- @function nn.BCECriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes probabilities, and targets of the same size, returns the loss
-- @usage nn.BCECriterion():forward(torch.Tensor{0.5, 0.5}, torch.Tensor{1, 0}) --> 0.6931

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'
local lib = require('dpt.ffi').lib

local BCECriterion, parent = torch.class('nn.BCECriterion', 'nn.Criterion')
local id = losses.id('bce')

function BCECriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   if weights ~= nil then
      losses.checkWeights('nn.BCECriterion', weights)
      self.weights = weights
   end
end

-- Expands the weights to the target's size (which may differ from the input's).
local function spread(self, target)
   local weights = self.weights
   if weights and weights:dim() < target:dim() then
      weights = weights:view(1, -1):expandAs(target)
   end
   return weights
end

function BCECriterion:updateLoss(input, target)
   local out = self:lossTensor(input)
   target = self:valuesFor(input, target)
   lib.loss_forward(id, out, input, target, spread(self, target),
      self.sizeAverage and 1 or 0, 0)
   return out
end

function BCECriterion:updateGradInput(input, target)
   target = self:valuesFor(input, target)
   lib.loss_backward(id, self.gradInput, input, target, spread(self, target),
      self.sizeAverage and 1 or 0, 0)
   return self.gradInput
end

BCECriterion.denominator = losses.elements

return BCECriterion
