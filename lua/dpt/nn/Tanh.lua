--- nn.Tanh(): applies the hyperbolic tangent elementwise.
-- Invariant: backward uses the output.
-- @function nn.Tanh
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Tanh():forward(torch.Tensor{0, 2}) --> [0 0.964]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Tanh = torch.class('nn.Tanh', 'nn.Module')

pointwise.define(Tanh, {forward = 'tanh', backward = 'tanh_backward', of = 'output'})

return Tanh
