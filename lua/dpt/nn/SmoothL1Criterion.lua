--- nn.SmoothL1Criterion(sizeAverage): sums (x - y)^2 / 2 where |x - y| < 1, and |x - y| - 1/2
-- elsewhere.
-- Invariant: with sizeAverage (the default) the sum is divided by the element count.
-- @function nn.SmoothL1Criterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes two tensors of the same size, returns the loss
-- @usage nn.SmoothL1Criterion():forward(torch.Tensor{1, 2}, torch.Tensor{1.5, 5}) --> 1.313

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local SmoothL1Criterion, parent = torch.class('nn.SmoothL1Criterion', 'nn.Criterion')

function SmoothL1Criterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil and true or sizeAverage
end

losses.define(SmoothL1Criterion, 'smoothl1')

return SmoothL1Criterion
