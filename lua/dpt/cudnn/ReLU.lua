--- cudnn.ReLU(inplace): replaces negative elements by 0.
-- Invariant: NaN stays NaN; nn.ReLU replaces it by 0.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local ReLU = torch.class('cudnn.ReLU', 'nn.ReLU')

pointwise.define(ReLU, {
   forward = 'clamp', backward = 'threshold_backward', of = 'input', q = math.huge,
})

--- Replaces negative elements by 0; NaN stays NaN.
-- @function cudnn.ReLU
-- @as cudnn
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.ReLU():cuda():forward(torch.CudaTensor{-1, 2}) --> [0 2]

return ReLU
