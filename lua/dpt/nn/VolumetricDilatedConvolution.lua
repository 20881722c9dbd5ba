--- nn.VolumetricDilatedConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW,
-- padH, dilationT, dilationW, dilationH): applies a dilated 3-D convolution.
-- Invariant: weights are as in nn.VolumetricConvolution.
-- @function nn.VolumetricDilatedConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: as nn.VolumetricConvolution with a kernel of size dilation (k - 1) + 1
-- @usage nn.VolumetricDilatedConvolution(1, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 2, 2)
--       :forward(torch.ones(1, 1, 4, 4, 4)):size() --> 1x2x2x2x2

local torch = require 'dpt.tensor'

local VolumetricDilatedConvolution, parent =
   torch.class('nn.VolumetricDilatedConvolution', 'nn.VolumetricConvolution')

function VolumetricDilatedConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH,
   padT, padW, padH, dilationT, dilationW, dilationH)
   parent.__init(self, nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.dilationT = dilationT or 1
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

-- Shows a missing bias, as Torch7 does for this class but not for its parent.
VolumetricDilatedConvolution.__tostring__ = torch.getmetatable(
   'nn.SpatialConvolution').__tostring__

return VolumetricDilatedConvolution
