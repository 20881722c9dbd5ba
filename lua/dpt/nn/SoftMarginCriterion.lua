--- nn.SoftMarginCriterion(sizeAverage): log(1 + e^(-y x)) for targets y of 1 or -1, summed.
-- What must stay true: with sizeAverage (the default) the sum is divided by the element count.

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local SoftMarginCriterion, parent = torch.class('nn.SoftMarginCriterion', 'nn.Criterion')

function SoftMarginCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(SoftMarginCriterion, 'softmargin')

return SoftMarginCriterion
