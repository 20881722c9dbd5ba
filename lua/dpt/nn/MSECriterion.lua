--- nn.MSECriterion(sizeAverage): the mean squared error, sum (x - y)^2 / n.
-- Invariant: without sizeAverage (true by default) the sum is not divided by the element count n.
-- @function nn.MSECriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes two tensors of the same size, returns the loss
-- @usage nn.MSECriterion():forward(torch.Tensor{1, 2}, torch.Tensor{2, 5}) --> 5

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local MSECriterion, parent = torch.class('nn.MSECriterion', 'nn.Criterion')

function MSECriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(MSECriterion, 'mse')

return MSECriterion
