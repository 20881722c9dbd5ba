--- nn.BCECriterion(weights, sizeAverage): -(y log x + (1 - y) log(1 - x)), summed: x are
-- probabilities, y targets from 0 to 1.
-- Invariant: weights, one for each element of a target's row, multiply the rows of a batch alike.
-- @function nn.BCECriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes probabilities, and targets of the same size, returns the
--    loss
-- @usage nn.BCECriterion():forward(torch.Tensor{0.5, 0.5}, torch.Tensor{1, 0}) --> 0.6931

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'
local dptffi = require 'dpt.ffi'
local raise, lib = dptffi.raise, dptffi.lib

local BCECriterion, parent = torch.class('nn.BCECriterion', 'nn.Criterion')
local id = losses.id('bce')

function BCECriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   if weights ~= nil then
      if not torch.isTensor(weights) or weights:dim() ~= 1 then
         raise('nn.BCECriterion: weights want a vector, got ' .. torch.type(weights))
      end
      self.weights = weights
   end
end

-- The weights of all elements: the target, which may have other sizes than the input, has the rows.
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
