--- nn.GEGLU(dim): nn.GLU with the activation of nn.GELU: y = a gelu(b), where a and b are the
-- halves of the input along dimension dim (the last one; a negative one is counted from the end).
-- @function nn.GEGLU
-- @within nn transfer
-- @as layer
-- @follows N. Shazeer, GLU Variants Improve Transformer (2020)
-- @return a module; forward: a tensor with an even size along dim -> half of that size
-- @usage nn.GEGLU():forward(torch.Tensor{1, 2}) --> [1.954]

local pointwise = require 'dpt.nn.pointwise'

local GEGLU = require('dpt.tensor').class('nn.GEGLU', 'nn.GatedLinearUnit')

GEGLU.gate = {
   forward = pointwise.id 'gelu', backward = pointwise.id 'gelu_backward', ofInput = true,
}

return GEGLU
