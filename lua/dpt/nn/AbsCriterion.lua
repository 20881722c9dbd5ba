--- nn.AbsCriterion(sizeAverage): |x - y|, summed.
-- Invariant: with sizeAverage (the default) the sum is divided by the element count.

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local AbsCriterion, parent = torch.class('nn.AbsCriterion', 'nn.Criterion')

function AbsCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(AbsCriterion, 'abs')

return AbsCriterion
