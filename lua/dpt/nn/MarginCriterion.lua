--- nn.MarginCriterion(margin): max(0, margin - y x) for targets y of 1 or -1, averaged.
-- Invariant: margin is 1 if not given; with the field sizeAverage false it is a sum.

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
