--- nn.MSECriterion(sizeAverage): (x - y)^2, summed.
-- Invariant: with sizeAverage (the default) the sum is divided by the element count.

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local MSECriterion, parent = torch.class('nn.MSECriterion', 'nn.Criterion')

function MSECriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(MSECriterion, 'mse')

return MSECriterion
