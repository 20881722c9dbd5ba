--- nn.MarginCriterion(margin): the hinge loss max(0, margin - y x) for targets y of 1 or -1,
-- averaged over the elements.
-- Invariant: margin defaults to 1. If the field sizeAverage is false, losses are summed.
-- @function nn.MarginCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a tensor and targets 1 or -1 of its size, returns the loss
-- @usage nn.MarginCriterion():forward(torch.Tensor{0.5, 2}, torch.Tensor{1, 1}) --> 0.25

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local MarginCriterion, parent = torch.class('nn.MarginCriterion', 'nn.Criterion')

function MarginCriterion:__init(margin)
   parent.__init(self)
   self.sizeAverage = true
   self.margin = margin or 1
end

losses.define(MarginCriterion, 'margin', 'margin')

return MarginCriterion
