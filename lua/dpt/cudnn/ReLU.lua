--- cudnn.ReLU(inplace): 0 instead of what is negative.
-- Invariant: a NaN stays one, which nn.ReLU makes 0.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local ReLU = torch.class('cudnn.ReLU', 'nn.ReLU')

pointwise.define(ReLU, {
   forward = 'clamp', backward = 'threshold_backward', of = 'input', q = math.huge,
})

--- Elements, 0 instead of negative ones; a NaN stays one.
-- @function cudnn.ReLU
-- @as cudnn
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.ReLU():cuda():forward(torch.CudaTensor{-1, 2}) --> [0 2]

return ReLU
