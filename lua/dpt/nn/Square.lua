--- nn.Square(): x^2, element by element.
-- Invariant: backward uses the input.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local Square = torch.class('nn.Square', 'nn.Module')

pointwise.define(Square, {forward = 'square', backward = 'square_backward', of = 'input'})

return Square
