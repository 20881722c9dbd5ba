--- cudnn.SpatialFullConvolution(...): nn.SpatialFullConvolution.
-- Invariant: the arguments are the same.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'

local SpatialFullConvolution =
   torch.class('cudnn.SpatialFullConvolution', 'nn.SpatialFullConvolution')

algorithms.add(SpatialFullConvolution)

--- Applies a transposed 2-D convolution, as nn.SpatialFullConvolution, with cuDNN's modes.
-- @function cudnn.SpatialFullConvolution
-- @as cudnn
-- @return a module; forward: (N x) nInputPlane x H x W -> (N x) nOutputPlane x H' x W'
-- @usage cudnn.SpatialFullConvolution(1, 2, 2, 2, 2, 2)
--       :cuda() :forward(torch.CudaTensor(1, 1, 3, 3):fill(1)):size() --> 1x2x6x6

return SpatialFullConvolution
