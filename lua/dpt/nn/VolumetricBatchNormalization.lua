--- nn.VolumetricBatchNormalization(nOutput, eps, momentum, affine): normalizes every plane of
-- volumes over the batch, as nn.BatchNormalization does for features.
-- Invariant: input is NxCxTxHxW.
-- @function nn.VolumetricBatchNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput x T x H x W -> the same size
-- @usage nn.VolumetricBatchNormalization(3):forward(torch.rand(8, 3, 2, 2, 2)):size()
--    --> 8x3x2x2x2

local torch = require 'dpt.tensor'

local VolumetricBatchNormalization =
   torch.class('nn.VolumetricBatchNormalization', 'nn.BatchNormalization')

VolumetricBatchNormalization.nDim = 5

return VolumetricBatchNormalization
