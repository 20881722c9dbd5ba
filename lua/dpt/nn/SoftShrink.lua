--- nn.SoftShrink(lambda): x moved towards 0 by lambda, 0 within lambda of it.
-- Invariant: lambda is 0.5 if not given.
-- @function nn.SoftShrink
-- @within nn transfer
-- @as layer
-- @param lambda how far values move towards 0 (0.5)
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
