--- nn.Abs(): |x|, element by element.
-- Invariant: the gradient at 0 is that of x.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Abs = torch.class('nn.Abs', 'nn.Module')

pointwise.define(Abs, {forward = 'abs', backward = 'abs_backward', of = 'input'})

return Abs
