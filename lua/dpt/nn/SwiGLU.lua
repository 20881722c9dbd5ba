--- nn.SwiGLU(dim): nn.GLU with the activation of nn.SiLU: y = a silu(b), where a and b are the
-- halves of the input along dimension dim (the last one; a negative one is counted from the end).
-- @function nn.SwiGLU
-- @within nn transfer
-- @as layer
-- @follows N. Shazeer, GLU Variants Improve Transformer (2020)
-- @return a module; forward: a tensor with an even size along dim -> half of that size
-- @usage nn.SwiGLU():forward(torch.Tensor{1, 2}) --> [1.762]

local pointwise = require 'dpt.nn.pointwise'

local SwiGLU = require('dpt.tensor').class('nn.SwiGLU', 'nn.GatedLinearUnit')

SwiGLU.gate = {
   forward = pointwise.id 'silu', backward = pointwise.id 'silu_backward', ofInput = true,
}

return SwiGLU
