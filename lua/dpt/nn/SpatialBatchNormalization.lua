--- nn.SpatialBatchNormalization(nOutput, eps, momentum, affine): nn.BatchNormalization of every
-- plane.
-- Invariant: input is NxCxHxW.

local torch = require 'dpt.tensor'

local SpatialBatchNormalization =
   torch.class('nn.SpatialBatchNormalization', 'nn.BatchNormalization')

SpatialBatchNormalization.nDim = 4

return SpatialBatchNormalization
