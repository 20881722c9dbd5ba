--- nn.SpatialConvolutionMM(...): nn.SpatialConvolution whose weight is a matrix.
-- Invariant: weight is nOutputPlane x (nInputPlane kH kW), in the order of a SpatialConvolution's
-- weight.

local torch = require 'dpt.tensor'

local SpatialConvolutionMM = torch.class('nn.SpatialConvolutionMM', 'nn.SpatialConvolution')

function SpatialConvolutionMM:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane * self.kH * self.kW}
end

return SpatialConvolutionMM
