--- nn.SpatialDilatedConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, dilationW,
-- dilationH): applies a dilated 2-D convolution; kernel elements are `dilation` pixels apart.
-- Invariant: weights are as in nn.SpatialConvolution.
-- @function nn.SpatialDilatedConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: as nn.SpatialConvolution with a kernel of size dilation (k - 1) + 1
-- @usage nn.SpatialDilatedConvolution(1, 2, 3, 3, 1, 1, 0, 0, 2, 2) :forward(torch.ones(1,
--       1, 7, 7)):size() --> 1x2x3x3

local torch = require 'dpt.tensor'

local SpatialDilatedConvolution, parent =
   torch.class('nn.SpatialDilatedConvolution', 'nn.SpatialConvolution')

function SpatialDilatedConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH,
   dilationW, dilationH)
   parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

return SpatialDilatedConvolution
