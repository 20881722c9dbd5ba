--- nn.Sqrt(): the square root, element by element.
-- Invariant: the gradient at 0 is 0.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Sqrt = torch.class('nn.Sqrt', 'nn.Module')

pointwise.define(Sqrt, {forward = 'sqrt', backward = 'sqrt_backward', of = 'output'})

return Sqrt
