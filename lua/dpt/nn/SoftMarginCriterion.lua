--- nn.SoftMarginCriterion(): sums log(1 + e^(-y x)) for targets y of 1 or -1.
-- Invariant: the sum is divided by the element count unless the field sizeAverage is false. As in
-- Torch7, the constructor has no argument.
-- @function nn.SoftMarginCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a tensor and targets 1 or -1 of its size, returns the loss
-- @usage nn.SoftMarginCriterion():forward(torch.Tensor{0, 0}, torch.Tensor{1, -1}) --> 0.6931

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'

local SoftMarginCriterion, parent = torch.class('nn.SoftMarginCriterion', 'nn.Criterion')

function SoftMarginCriterion:__init()
   parent.__init(self)
   self.sizeAverage = true
end

losses.define(SoftMarginCriterion, 'softmargin')

return SoftMarginCriterion
