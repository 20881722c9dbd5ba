--- cudnn.ClippedReLU(ceiling, inplace): clamps elements to 0 .. ceiling.
-- Invariant: like nn.HardTanh(0, ceiling, inplace), except that NaN stays NaN.

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local expect = require 'dpt.class.expect'

local ClippedReLU, parent = torch.class('cudnn.ClippedReLU', 'nn.HardTanh')

function ClippedReLU:__init(ceiling, inplace)
   parent.__init(self, 0, expect('cudnn.ClippedReLU', 'ceiling', ceiling, 'number'), inplace)
   self.ceiling = ceiling
end

pointwise.define(ClippedReLU, {
   forward = 'clamp', backward = 'hardtanh_backward', of = 'input', q = 'ceiling',
})

--- Clamps elements to 0 .. ceiling.
-- @function cudnn.ClippedReLU
-- @as cudnn
-- @param ceiling the largest output
-- @return a module; forward: a tensor of any size -> the same size
-- @usage cudnn.ClippedReLU(3):cuda():forward(torch.CudaTensor{-1, 2, 5}) --> [0 2 3]

return ClippedReLU
