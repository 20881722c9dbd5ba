--- nn.AbsCriterion(sizeAverage): the mean absolute error (L1 loss), sum |x - y| / n.
-- Invariant: without sizeAverage (true by default) the sum is not divided by the element count n.
-- @function nn.AbsCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes two tensors of the same size, returns the loss
-- @usage nn.AbsCriterion():forward(torch.Tensor{1, 2}, torch.Tensor{2, 5}) --> 2

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local AbsCriterion, parent = torch.class('nn.AbsCriterion', 'nn.Criterion')

function AbsCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(AbsCriterion, 'abs')

return AbsCriterion
