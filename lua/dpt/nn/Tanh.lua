--- nn.Tanh(): the hyperbolic tangent, element by element.
-- Invariant: backward uses the output.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Tanh = torch.class('nn.Tanh', 'nn.Module')

pointwise.define(Tanh, {forward = 'tanh', backward = 'tanh_backward', of = 'output'})

return Tanh
