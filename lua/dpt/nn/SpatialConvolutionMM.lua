--- nn.SpatialConvolutionMM(...): nn.SpatialConvolution with a 2-D weight.
-- Invariant: weight is nOutputPlane x (nInputPlane kH kW), with elements in the order of
-- nn.SpatialConvolution's weight.
-- @function nn.SpatialConvolutionMM
-- @within nn convolution
-- @as layer
-- @return a module; forward: as nn.SpatialConvolution
-- @usage nn.SpatialConvolutionMM(3, 8, 5, 5):forward(torch.ones(2, 3, 6, 6)):size() --> 2x8x2x2

local torch = require 'dpt.tensor'

local SpatialConvolutionMM = torch.class('nn.SpatialConvolutionMM', 'nn.SpatialConvolution')

function SpatialConvolutionMM:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane * self.kH * self.kW}
end

return SpatialConvolutionMM
