--- cudnn.VolumetricLogSoftMax(): nn.LogSoftMax over the planes of a volume, for every voxel.
-- Invariant: like cudnn.VolumetricSoftMax, with another inner module.

local torch = require 'dpt.tensor'

local VolumetricLogSoftMax =
   torch.class('cudnn.VolumetricLogSoftMax', 'cudnn.VolumetricSoftMax')

VolumetricLogSoftMax.inner = 'SpatialLogSoftMax'

--- Applies log-softmax over the planes of a volume, for every voxel.
-- @function cudnn.VolumetricLogSoftMax
-- @as cudnn
-- @return a module; forward: N x C x T x H x W -> the same size
-- @usage cudnn.VolumetricLogSoftMax()
--       :cuda() :forward(torch.CudaTensor(1, 2, 1, 1, 1):fill(1)) --> [-0.6931 -0.6931]

return VolumetricLogSoftMax
