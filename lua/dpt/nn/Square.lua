--- nn.Square(): applies x^2 elementwise.
-- Invariant: backward uses the input.
-- @function nn.Square
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Square():forward(torch.Tensor{-2, 3}) --> [4 9]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Square = torch.class('nn.Square', 'nn.Module')

pointwise.define(Square, {forward = 'square', backward = 'square_backward', of = 'input'})

return Square
