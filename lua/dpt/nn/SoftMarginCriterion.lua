--- nn.SoftMarginCriterion(): log(1 + e^(-y x)) for targets y of 1 or -1, summed.
-- Invariant: the sum is divided by the element count unless the field sizeAverage is false; as in
-- Torch7 the constructor takes no argument.

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local SoftMarginCriterion, parent = torch.class('nn.SoftMarginCriterion', 'nn.Criterion')

function SoftMarginCriterion:__init()
   parent.__init(self)
   self.sizeAverage = true
end

losses.define(SoftMarginCriterion, 'softmargin')

return SoftMarginCriterion
