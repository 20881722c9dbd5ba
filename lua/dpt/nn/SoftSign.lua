--- nn.SoftSign(): x / (1 + |x|), element by element.
-- Invariant: backward uses the input.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local SoftSign = torch.class('nn.SoftSign', 'nn.Module')

pointwise.define(SoftSign, {forward = 'softsign', backward = 'softsign_backward', of = 'input'})

return SoftSign
