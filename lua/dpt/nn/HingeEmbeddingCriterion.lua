--- nn.HingeEmbeddingCriterion(margin): x where the target is 1, max(0, margin - x) where it is -1,
-- averaged.
-- Invariant: margin is 1 if not given; target may be a number for a single input.

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
