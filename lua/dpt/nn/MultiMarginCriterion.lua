--- nn.MultiMarginCriterion(p, weights, margin, sizeAverage): the multi-class hinge loss weights[y]
-- sum_i max(0, margin - x_y + x_i)^p / C over the classes i other than the target y.
-- Invariant: p is 1 or 2. Input is C or N x C; target is one class or N classes.
-- @function nn.MultiMarginCriterion
-- @within nn criterions
-- @as criterion
-- @param p the exponent, 1 or 2 (1)
-- @return a criterion; forward takes a B x C tensor and B classes, or a vector of C elements and
--    one class; returns the loss
-- @usage nn.MultiMarginCriterion():forward(torch.Tensor{0.2, 0.9}, 1) --> 0.85

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'
local dptffi = require 'dpt.ffi'
local raise, lib = dptffi.raise, dptffi.lib

local MultiMarginCriterion, parent = torch.class('nn.MultiMarginCriterion', 'nn.Criterion')

function MultiMarginCriterion:__init(p, weights, margin, sizeAverage)
   parent.__init(self)
   self.p = p or 1
   if self.p ~= 1 and self.p ~= 2 then
      raise("nn.MultiMarginCriterion: argument 'p' is " .. tostring(p) .. ', wanted 1 or 2')
   end
   self.margin = margin or 1
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   if weights then
      losses.checkWeights('nn.MultiMarginCriterion', weights)
      self.weights = weights
   end
end

function MultiMarginCriterion:updateLoss(input, target)
   local out = self:lossTensor(input)
   lib.multimargin_forward(out, input, self:classesFor(input, target), self.weights,
      self.sizeAverage and 1 or 0, self.p, self.margin)
   return out
end

function MultiMarginCriterion:updateGradInput(input, target)
   lib.multimargin_backward(self.gradInput, input, self:classesFor(input, target), self.weights,
      self.sizeAverage and 1 or 0, self.p, self.margin)
   return self.gradInput
end

MultiMarginCriterion.denominator = losses.rows

return MultiMarginCriterion
