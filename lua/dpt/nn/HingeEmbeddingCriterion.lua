--- nn.HingeEmbeddingCriterion(margin): x if the target is 1, max(0, margin - x) if it is -1,
-- averaged over the elements.
-- Invariant: margin defaults to 1. For an input of one element the target may be a number.
-- @function nn.HingeEmbeddingCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a tensor of distances and targets 1 or -1, returns the
--    loss
-- @usage nn.HingeEmbeddingCriterion():forward(torch.Tensor{0.5}, torch.Tensor{-1}) --> 0.5

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local HingeEmbeddingCriterion, parent = torch.class('nn.HingeEmbeddingCriterion', 'nn.Criterion')

function HingeEmbeddingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.sizeAverage = true
end

losses.define(HingeEmbeddingCriterion, 'hinge', 'margin')

return HingeEmbeddingCriterion
