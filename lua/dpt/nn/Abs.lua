--- nn.Abs(): y = |x|, element by element.
-- Invariant: the derivative at 0 is 1.
-- @function nn.Abs
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Abs():forward(torch.Tensor{-1, 2}) --> [1 2]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Abs = torch.class('nn.Abs', 'nn.Module')

pointwise.define(Abs, {forward = 'abs', backward = 'abs_backward', of = 'input'})

return Abs
