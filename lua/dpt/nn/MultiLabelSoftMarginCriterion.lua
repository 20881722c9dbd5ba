--- nn.MultiLabelSoftMarginCriterion(weights, sizeAverage): the binary cross-entropy of sigmoid(x)
-- and targets 0 or 1 for each class, averaged over all elements.
-- Invariant: accurate even where sigmoid(x) rounds to 0 or 1. weights has one element per class.
-- @function nn.MultiLabelSoftMarginCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C and B x C numbers 0 or 1, returns the loss
-- @usage nn.MultiLabelSoftMarginCriterion() :forward(torch.zeros(1, 2), torch.Tensor{{1,
--       0}}) --> 0.6931

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local losses = require 'dpt.nn.losses'
local pointwise = require 'dpt.nn.pointwise'

local MultiLabelSoftMarginCriterion, parent =
   torch.class('nn.MultiLabelSoftMarginCriterion', 'nn.Criterion')
local logsigmoid = pointwise.id('logsigmoid')

function MultiLabelSoftMarginCriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
   self.weights = weights
end

-- Multiplies t by the weights, broadcast over its rows.
local function weighted(self, t)
   if self.weights then
      local weights = self.weights
      if t:dim() > 1 then weights = weights:view(1, -1) end
      t:cmul(weights:expandAs(t))
   end
   return t
end

-- -(y log s(x) + (1 - y) log s(-x)) = (1 - y) x - log s(x)
function MultiLabelSoftMarginCriterion:updateLoss(input, target)
   target = self:valuesFor(input, target)
   local logs = input.new():resizeAs(input)
   lib.map1(logsigmoid, logs, input, 0, 0)
   local each = torch.add(input, -1, torch.cmul(target, input)):add(-1, logs)
   return self:sumOf(weighted(self, each), self:denominator(input))
end

function MultiLabelSoftMarginCriterion:updateGradInput(input, target)
   target = self:valuesFor(input, target)
   self.gradInput:resizeAs(input):sigmoid(input):add(-1, target)
   weighted(self, self.gradInput)
   if self.sizeAverage then self.gradInput:div(input:nElement()) end
   return self.gradInput
end

MultiLabelSoftMarginCriterion.denominator = losses.elements

return MultiLabelSoftMarginCriterion
