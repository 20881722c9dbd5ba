--- cudnn.VolumetricFullConvolution(...): nn.VolumetricFullConvolution.
-- Invariant: it takes the same arguments.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'

local VolumetricFullConvolution =
   torch.class('cudnn.VolumetricFullConvolution', 'nn.VolumetricFullConvolution')

algorithms.add(VolumetricFullConvolution)

return VolumetricFullConvolution
