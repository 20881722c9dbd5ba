--- nn.SpatialContrastiveNormalization(nInputPlane, kernel, threshold, thresval): applies
-- nn.SpatialSubtractiveNormalization, then nn.SpatialDivisiveNormalization.
-- Invariant: both use the same kernel.
-- @function nn.SpatialContrastiveNormalization
-- @within nn normalization
-- @as layer
-- @param thresval value that replaces small deviations (threshold)
-- @return a module; forward: B x nInputPlane x H x W or one image -> the same size
-- @usage nn.SpatialContrastiveNormalization(1):forward(torch.ones(1, 12, 12)):size()
--    --> 1x12x12

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local SpatialContrastiveNormalization, parent =
   torch.class('nn.SpatialContrastiveNormalization', 'nn.Module')

function SpatialContrastiveNormalization:__init(nInputPlane, kernel, threshold, thresval)
   parent.__init(self)
   self.normalizer = nn.Sequential()
      :add(nn.SpatialSubtractiveNormalization(nInputPlane, kernel))
      :add(nn.SpatialDivisiveNormalization(nInputPlane, kernel, threshold, thresval))
   local divisive = self.normalizer.modules[2]
   self.nInputPlane, self.threshold = divisive.nInputPlane, divisive.threshold
   self.thresval = divisive.thresval
end

function SpatialContrastiveNormalization:updateOutput(input)
   self.output = self.normalizer:forward(input)
   return self.output
end

function SpatialContrastiveNormalization:updateGradInput(input, gradOutput)
   self.gradInput = self.normalizer:backward(input, gradOutput)
   return self.gradInput
end

function SpatialContrastiveNormalization:clearState()
   self.normalizer:clearState()
   self.output = self.output.new()
   self.gradInput = self.gradInput.new()
   return self
end

return SpatialContrastiveNormalization
