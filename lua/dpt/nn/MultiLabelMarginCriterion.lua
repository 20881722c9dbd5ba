--- nn.MultiLabelMarginCriterion(sizeAverage): the multi-class multi-label hinge loss: sum of max(0,
-- 1 - x_j + x_i) / C over labels j and other classes i.
-- Invariant: a row of the target lists labels up to the first 0. With sizeAverage (the default) the
-- losses of a batch are averaged.
-- @function nn.MultiLabelMarginCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C and B x C class numbers, which end at the first 0,
--    returns the loss
-- @usage nn.MultiLabelMarginCriterion() :forward(torch.Tensor{0.5, 0.2, 0.1},
--       torch.Tensor{1, 0, 0}) --> 0.4333

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local losses = require 'dpt.nn.losses'

local MultiLabelMarginCriterion, parent =
   torch.class('nn.MultiLabelMarginCriterion', 'nn.Criterion')

function MultiLabelMarginCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

function MultiLabelMarginCriterion:updateLoss(input, target)
   local out = self:lossTensor(input)
   lib.multilabel_forward(out, input, self:classesFor(input, target), self.sizeAverage and 1 or 0)
   return out
end

function MultiLabelMarginCriterion:updateGradInput(input, target)
   lib.multilabel_backward(self.gradInput, input, self:classesFor(input, target),
      self.sizeAverage and 1 or 0)
   return self.gradInput
end

MultiLabelMarginCriterion.denominator = losses.rows

return MultiLabelMarginCriterion
