--- nn.SoftShrink(lambda): x moved towards 0 by lambda, 0 within lambda of it.
-- Invariant: lambda is 0.5 if not given.

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
