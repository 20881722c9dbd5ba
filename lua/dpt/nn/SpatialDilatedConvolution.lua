--- nn.SpatialDilatedConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, dilationW,
-- dilationH): nn.SpatialConvolution whose kernel reads every dilation-th pixel.
-- Invariant: weights as in nn.SpatialConvolution.

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
