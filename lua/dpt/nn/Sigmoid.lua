--- nn.Sigmoid(): applies 1 / (1 + e^-x) elementwise.
-- Invariant: backward uses the output.
-- @function nn.Sigmoid
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Sigmoid():forward(torch.Tensor{0, 2}) --> [0.5 0.8808]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Sigmoid = torch.class('nn.Sigmoid', 'nn.Module')

pointwise.define(Sigmoid, {forward = 'sigmoid', backward = 'sigmoid_backward', of = 'output'})

return Sigmoid
