--- nn.VolumetricBatchNormalization(nOutput, eps, momentum, affine): nn.BatchNormalization of every
-- plane.
-- Invariant: input is NxCxTxHxW.

local torch = require 'dpt.tensor'

local VolumetricBatchNormalization =
   torch.class('nn.VolumetricBatchNormalization', 'nn.BatchNormalization')

VolumetricBatchNormalization.nDim = 5

return VolumetricBatchNormalization
