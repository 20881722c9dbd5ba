--- nn.InstanceNorm(numFeatures, eps, affine): normalizes each plane of each sample by itself: y =
-- (x - mean) / sqrt(var + eps). With affine, each plane is multiplied by its weight, and its bias
-- is added.
-- Invariant: training and evaluation do the same; there are no running statistics.
-- @function nn.InstanceNorm
-- @within nn normalization
-- @as layer
-- @follows PyTorch's InstanceNorm1d, InstanceNorm2d and InstanceNorm3d without
--    track_running_stats, which have momentum before affine
-- @param numFeatures planes of input and output
-- @param affine? true: learnable weight and bias (false)
-- @return a module; forward: B x numFeatures x one or more sizes -> the same size
-- @raise if the input has other planes
-- @usage nn.InstanceNorm(1):forward(torch.Tensor{{{1, 3}}, {{10, 30}}})
--    --> [-1 1 -1 1]

local torch = require 'dpt.tensor'
local normalization = require 'dpt.nn.normalization'

local InstanceNorm, parent = torch.class('nn.InstanceNorm', 'nn.GroupNorm')

function InstanceNorm:__init(numFeatures, eps, affine)
   parent.__init(self, numFeatures, numFeatures, eps, affine == true)
end

normalization.define(InstanceNorm, parent, function(self, input)
   return normalization.splitPlanes(self, input, 3)
end, 0)

function InstanceNorm:__tostring__()
   return ('%s(%d)'):format(torch.type(self), self.numChannels)
end

return InstanceNorm
