--- cudnn.VolumetricFullConvolution(...): nn.VolumetricFullConvolution.
-- What must stay true: it takes the same arguments.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'

local VolumetricFullConvolution =
   torch.class('cudnn.VolumetricFullConvolution', 'nn.VolumetricFullConvolution')

algorithms.add(VolumetricFullConvolution)

return VolumetricFullConvolution
