--- nn.DistKLDivCriterion(sizeAverage): y (log y - x), summed: x are log-probabilities, y the target
-- distribution.
-- Invariant: targets of 0 and below add nothing; sizeAverage divides by the element count.

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local DistKLDivCriterion, parent = torch.class('nn.DistKLDivCriterion', 'nn.Criterion')

function DistKLDivCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(DistKLDivCriterion, 'distkl')

return DistKLDivCriterion
