--- nn.SoftShrink(lambda): moves each element toward 0 by lambda; elements within lambda of 0 become
-- 0.
-- Invariant: lambda defaults to 0.5.
-- @function nn.SoftShrink
-- @within nn transfer
-- @as layer
-- @param lambda distance by which elements move toward 0 (0.5)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.SoftShrink(1):forward(torch.Tensor{-3, 0.5}) --> [-2 0]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local SoftShrink, parent = torch.class('nn.SoftShrink', 'nn.Module')

function SoftShrink:__init(lambda)
   parent.__init(self)
   self.lambda = lambda or 0.5
end

pointwise.define(SoftShrink, {
   forward = 'softshrink', backward = 'shrink_backward', of = 'input', p = 'lambda',
})

return SoftShrink
