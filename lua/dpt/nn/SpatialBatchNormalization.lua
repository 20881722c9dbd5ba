--- nn.SpatialBatchNormalization(nOutput, eps, momentum, affine): normalizes every plane over the
-- batch, as nn.BatchNormalization does for features.
-- Invariant: input is NxCxHxW.
-- @function nn.SpatialBatchNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nOutput x H x W -> the same size
-- @usage nn.SpatialBatchNormalization(3):forward(torch.rand(8, 3, 4, 4)):size() --> 8x3x4x4

local torch = require 'dpt.tensor'

local SpatialBatchNormalization =
   torch.class('nn.SpatialBatchNormalization', 'nn.BatchNormalization')

SpatialBatchNormalization.nDim = 4

return SpatialBatchNormalization
