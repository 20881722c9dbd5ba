--- cudnn.SpatialFullConvolution(...): nn.SpatialFullConvolution.
-- Invariant: it takes the same arguments.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'

local SpatialFullConvolution =
   torch.class('cudnn.SpatialFullConvolution', 'nn.SpatialFullConvolution')

algorithms.add(SpatialFullConvolution)

return SpatialFullConvolution
