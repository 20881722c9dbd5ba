--- nn.SpatialSubtractiveNormalization(nInputPlane, kernel): subtracts from every pixel the weighted
-- mean of its neighborhood over all planes.
-- Invariant: input is (N)xCxHxW. At borders, the mean covers only pixels inside the image.
-- @function nn.SpatialSubtractiveNormalization
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x nInputPlane x H x W or one image -> the same size
-- @usage nn.SpatialSubtractiveNormalization(1):forward(torch.ones(1, 12, 12)):size()
--    --> 1x12x12

local torch = require 'dpt.tensor'
local neighbourhood = require 'dpt.nn.neighbourhood'

local SpatialSubtractiveNormalization, parent =
   torch.class('nn.SpatialSubtractiveNormalization', 'nn.Module')

function SpatialSubtractiveNormalization:__init(nInputPlane, kernel)
   parent.__init(self)
   neighbourhood.init(self, nInputPlane, kernel, 'nn.SpatialSubtractiveNormalization',
      nInputPlane or 1, 1)
end

function SpatialSubtractiveNormalization:updateOutput(input)
   local mean = neighbourhood.mean(self, input):cdiv(neighbourhood.coefficients(self, input))
   self.output:resizeAs(input):add(input, -1, mean:expandAs(input))
   return self.output
end

function SpatialSubtractiveNormalization:updateGradInput(input, gradOutput)
   local plane = input:dim() - 2
   local g = gradOutput:sum(plane):cdiv(neighbourhood.coefficients(self, input))
   self.gradInput:resizeAs(input)
      :add(gradOutput, -1, neighbourhood.meanBackward(self, g, input))
   return self.gradInput
end

return SpatialSubtractiveNormalization
