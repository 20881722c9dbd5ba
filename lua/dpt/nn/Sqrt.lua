--- nn.Sqrt(): applies the square root elementwise.
-- Invariant: the gradient at 0 is 0.
-- @function nn.Sqrt
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor without negative elements -> the same size
-- @usage nn.Sqrt():forward(torch.Tensor{4, 9}) --> [2 3]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Sqrt = torch.class('nn.Sqrt', 'nn.Module')

pointwise.define(Sqrt, {forward = 'sqrt', backward = 'sqrt_backward', of = 'output'})

return Sqrt
