--- nn.Sigmoid(): 1 / (1 + e^-x), element by element.
-- Invariant: backward uses the output.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Sigmoid = torch.class('nn.Sigmoid', 'nn.Module')

pointwise.define(Sigmoid, {forward = 'sigmoid', backward = 'sigmoid_backward', of = 'output'})

return Sigmoid
