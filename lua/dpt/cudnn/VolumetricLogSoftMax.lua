--- cudnn.VolumetricLogSoftMax(): nn.LogSoftMax over the planes of a volume, for every voxel.
-- Invariant: it is cudnn.VolumetricSoftMax around another module.

local torch = require 'dpt.tensor'

local VolumetricLogSoftMax =
   torch.class('cudnn.VolumetricLogSoftMax', 'cudnn.VolumetricSoftMax')

VolumetricLogSoftMax.inner = 'SpatialLogSoftMax'

return VolumetricLogSoftMax
