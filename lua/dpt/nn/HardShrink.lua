--- nn.HardShrink(lambda): y = x if |x| > lambda, 0 otherwise.
-- Invariant: lambda is 0.5 if not given.
-- @function nn.HardShrink
-- @within nn transfer
-- @as layer
-- @param lambda the threshold (0.5)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.HardShrink(1):forward(torch.Tensor{-3, 0.5}) --> [-3 0]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local HardShrink, parent = torch.class('nn.HardShrink', 'nn.Module')

function HardShrink:__init(lambda)
   parent.__init(self)
   self.lambda = lambda or 0.5
end

pointwise.define(HardShrink, {
   forward = 'hardshrink', backward = 'shrink_backward', of = 'input', p = 'lambda',
})

return HardShrink
