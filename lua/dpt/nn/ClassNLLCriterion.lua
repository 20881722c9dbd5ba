--- nn.ClassNLLCriterion(weights, sizeAverage, ignoreIndex): the negative log-likelihood loss,
-- -weights[y] * x[y]. Input holds log-probabilities, C or N x C; target is a class from 1 to C, or
-- N classes. weights, if given, has one element per class.
-- Invariant: with sizeAverage (the default) the sum is divided by the sum of the targets' weights.
-- Targets equal to ignoreIndex (-100) add to neither sum. If input is a vector, only the first
-- element of target counts.
-- @function nn.ClassNLLCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C log-probabilities and B classes, or C and one, returns
--    the loss and the sum of the targets' weights, by which the mean is divided
-- @usage nn.ClassNLLCriterion() :forward(torch.Tensor{{-1, -2}, {-3, -4}},
--       torch.LongTensor{1, 2}) --> 2.5, 2

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'
local lib = require('dpt.ffi').lib

local ClassNLLCriterion, parent = torch.class('nn.ClassNLLCriterion', 'nn.Criterion')

function ClassNLLCriterion:__init(weights, sizeAverage, ignoreIndex)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   self.ignoreIndex = ignoreIndex or -100
   if weights then
      losses.checkWeights(torch.type(self), weights)
      self.weights = weights
   end
   self.output_tensor = torch.zeros(1)
   self.total_weight_tensor = torch.ones(1)
end

function ClassNLLCriterion:classesFor(input, target)
   if torch.isTensor(target) and input:dim() == 1 and target:nElement() > 1 then
      target = target:narrow(1, 1, 1)
   end
   return parent.classesFor(self, input, target)
end

function ClassNLLCriterion:updateLoss(input, target)
   lib.nll_forward(self.output_tensor, self.total_weight_tensor, input,
      self:classesFor(input, target), self.weights, self.sizeAverage and 1 or 0, self.ignoreIndex)
   return self.output_tensor, self.total_weight_tensor
end

function ClassNLLCriterion:denominator(_, target)
   local count = torch.isTensor(target) and target:nElement() or 1
   return self.sizeAverage and self.total_weight_tensor, not self.weights and count
end

function ClassNLLCriterion:updateGradInput(input, target)
   lib.nll_backward(self.gradInput, input, self:classesFor(input, target), self.weights,
      self.total_weight_tensor, self.sizeAverage and 1 or 0, self.ignoreIndex)
   return self.gradInput
end

return ClassNLLCriterion
