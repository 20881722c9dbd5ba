--- nn.SpatialCrossMapLRN(size, alpha, beta, k): applies local response normalization across planes:
-- x / (k + alpha/size sum x^2)^beta, where the sum is over `size` neighboring planes.
-- Invariant: input is (N)xCxHxW. The field scale holds the term in parentheses.
-- @function nn.SpatialCrossMapLRN
-- @within nn normalization
-- @as layer
-- @param size number of planes in the window (5)
-- @param alpha factor of the mean square (0.0001)
-- @param beta exponent (0.75)
-- @param k constant added to the scaled mean square (1)
-- @return a module; forward: B x C x H x W or C x H x W -> the same size
-- @usage nn.SpatialCrossMapLRN(5):forward(torch.ones(8, 2, 2)):size() --> 8x2x2

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local SpatialCrossMapLRN, parent = torch.class('nn.SpatialCrossMapLRN', 'nn.Module')

function SpatialCrossMapLRN:__init(size, alpha, beta, k)
   parent.__init(self)
   self.size = size or 5
   self.alpha = alpha or 0.0001
   self.beta = beta or 0.75
   self.k = k or 1
end

function SpatialCrossMapLRN:updateOutput(input)
   self.scale = self.scale or input.new()
   lib.lrn_forward(self.output, self.scale, input, self.size, self.alpha, self.beta, self.k)
   return self.output
end

function SpatialCrossMapLRN:updateGradInput(input, gradOutput)
   lib.lrn_backward(self.gradInput, gradOutput, input, self.output, self.scale, self.size,
      self.alpha, self.beta)
   return self.gradInput
end

function SpatialCrossMapLRN:clearState()
   if self.scale then self.scale:set() end
   return parent.clearState(self)
end

return SpatialCrossMapLRN
