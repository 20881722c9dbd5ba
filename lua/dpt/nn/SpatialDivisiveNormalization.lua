--- nn.SpatialDivisiveNormalization(nInputPlane, kernel, threshold, thresval): divides every pixel
-- by the root mean square of its neighborhood over all planes. Where the root mean square is at
-- most threshold, divides by thresval (both default to 1e-4).
-- Invariant: input is (N)xCxHxW.
-- @function nn.SpatialDivisiveNormalization
-- @within nn normalization
-- @as layer
-- @param thresval value that replaces small deviations (threshold)
-- @return a module; forward: B x nInputPlane x H x W or one image -> the same size
-- @usage nn.SpatialDivisiveNormalization(1):forward(torch.ones(1, 12, 12)):size() --> 1x12x12

local torch = require 'dpt.tensor'
local neighbourhood = require 'dpt.nn.neighbourhood'

local SpatialDivisiveNormalization, parent =
   torch.class('nn.SpatialDivisiveNormalization', 'nn.Module')

function SpatialDivisiveNormalization:__init(nInputPlane, kernel, threshold, thresval)
   parent.__init(self)
   self.threshold = threshold or 1e-4
   self.thresval = thresval or threshold or 1e-4
   neighbourhood.init(self, nInputPlane, kernel, 'nn.SpatialDivisiveNormalization',
      math.sqrt(nInputPlane or 1), 2)
end

--- Returns the local deviation of every pixel, the divisor computed from it, both (N)x1xHxW, and
-- the border coefficients.
-- @function nn.SpatialDivisiveNormalization:deviations
-- @as author
-- @param input tensor: (N x) C x H x W
-- @return three tensors, and a mask of the divisors that were at most threshold
-- @usage (nn.SpatialDivisiveNormalization(2):deviations(torch.ones(2, 9, 9))):nElement() --> 81
function SpatialDivisiveNormalization:deviations(input)
   local coefficients = neighbourhood.coefficients(self, input)
   local deviation = neighbourhood.mean(self, torch.cmul(input, input)):sqrt()
   local divisor = torch.cdiv(deviation, coefficients)
   local low = torch.le(divisor, self.threshold)
   return deviation, divisor:maskedFill(low, self.thresval), coefficients, low
end

function SpatialDivisiveNormalization:updateOutput(input)
   local _, divisor = self:deviations(input)
   self.output:resizeAs(input):cdiv(input, divisor:expandAs(input))
   return self.output
end

function SpatialDivisiveNormalization:updateGradInput(input, gradOutput)
   local deviation, divisor, coefficients, low = self:deviations(input)
   self.gradInput:resizeAs(input):cdiv(gradOutput, divisor:expandAs(input))
   -- through the divisor: -sum g x / t^2; zero where thresval replaced it
   local pull = torch.cmul(self.gradInput, input):sum(input:dim() - 2):cdiv(divisor):mul(-1)
   pull:cdiv(coefficients):cdiv(deviation):maskedFill(low, 0)
   local spread = neighbourhood.meanBackward(self, pull, input)
   self.gradInput:addcmul(1, spread, input)
   return self.gradInput
end

return SpatialDivisiveNormalization
