--- nn.SiLU(): y = x sigmoid(x), element by element (also called swish).
-- Invariant: backward uses the input.
-- @function nn.SiLU
-- @within nn transfer
-- @as layer
-- @follows PyTorch's SiLU
-- @return a module; forward: any tensor -> the same size
-- @usage nn.SiLU():forward(torch.Tensor{0, 2}) --> [0 1.762]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local SiLU = torch.class('nn.SiLU', 'nn.Module')

pointwise.define(SiLU, {forward = 'silu', backward = 'silu_backward', of = 'input'})

return SiLU
