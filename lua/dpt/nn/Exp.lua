--- nn.Exp(): y = e^x, element by element.
-- Invariant: backward uses the output.
-- @function nn.Exp
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Exp():forward(torch.Tensor{0, 1}) --> [1 2.718]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Exp = torch.class('nn.Exp', 'nn.Module')

pointwise.define(Exp, {forward = 'exp', backward = 'cmul', of = 'output'})

return Exp
