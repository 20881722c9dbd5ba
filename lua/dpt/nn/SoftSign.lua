--- nn.SoftSign(): applies x / (1 + |x|) elementwise.
-- Invariant: backward uses the input.
-- @function nn.SoftSign
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor -> the same size
-- @usage nn.SoftSign():forward(torch.Tensor{-1, 3}) --> [-0.5 0.75]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local SoftSign = torch.class('nn.SoftSign', 'nn.Module')

pointwise.define(SoftSign, {forward = 'softsign', backward = 'softsign_backward', of = 'input'})

return SoftSign
