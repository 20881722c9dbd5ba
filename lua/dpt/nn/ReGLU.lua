--- nn.ReGLU(dim): nn.GLU with the activation of nn.ReLU: y = a max(b, 0), where a and b are the
-- halves of the input along dimension dim (the last one; a negative one is counted from the end).
-- @function nn.ReGLU
-- @within nn transfer
-- @as layer
-- @follows N. Shazeer, GLU Variants Improve Transformer (2020)
-- @return a module; forward: a tensor with an even size along dim -> half of that size
-- @usage nn.ReGLU():forward(torch.Tensor{3, 5, 2, -1}) --> [6 0]

local pointwise = require 'dpt.nn.pointwise'

local ReGLU = require('dpt.tensor').class('nn.ReGLU', 'nn.GatedLinearUnit')

ReGLU.gate = {
   forward = pointwise.id 'threshold', backward = pointwise.id 'threshold_backward', ofInput = true,
}

return ReGLU
