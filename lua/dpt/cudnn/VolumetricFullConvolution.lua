--- cudnn.VolumetricFullConvolution(...): nn.VolumetricFullConvolution.
-- Invariant: the arguments are the same.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'

local VolumetricFullConvolution =
   torch.class('cudnn.VolumetricFullConvolution', 'nn.VolumetricFullConvolution')

algorithms.add(VolumetricFullConvolution)

--- Applies a transposed 3-D convolution, as nn.VolumetricFullConvolution, with cuDNN's modes.
-- @function cudnn.VolumetricFullConvolution
-- @as cudnn
-- @return a module; forward: (N x) nInputPlane x T x H x W -> (N x) nOutputPlane x T' x H' x W'
-- @usage cudnn.VolumetricFullConvolution(1, 2, 2, 2, 2, 2, 2, 2)
--       :cuda() :forward(torch.CudaTensor(1, 1, 2, 2, 2):fill(1)):size() --> 1x2x4x4x4

return VolumetricFullConvolution
