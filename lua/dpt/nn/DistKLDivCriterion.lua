--- nn.DistKLDivCriterion(sizeAverage): the Kullback-Leibler divergence sum y (log y - x) / n; x are
-- log-probabilities, y is the target distribution.
-- Invariant: targets of 0 and below add nothing. Without sizeAverage (true by default) the sum is
-- not divided by the element count n.
-- @function nn.DistKLDivCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes log-probabilities and probabilities of the same size,
--    returns the loss
-- @usage nn.DistKLDivCriterion() :forward(torch.Tensor{0.5, 0.5}:log(), torch.Tensor{0.5,
--       0.5}) --> 0

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local DistKLDivCriterion, parent = torch.class('nn.DistKLDivCriterion', 'nn.Criterion')

function DistKLDivCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(DistKLDivCriterion, 'distkl')

return DistKLDivCriterion
