--- nn.VolumetricDilatedConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW,
-- padH, dilationT, dilationW, dilationH): nn.VolumetricConvolution with gaps in the kernel.
-- Invariant: weights as in nn.VolumetricConvolution.

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

-- Torch7 names the missing bias of this class, not of its parent.
VolumetricDilatedConvolution.__tostring__ = torch.getmetatable(
   'nn.SpatialConvolution').__tostring__

return VolumetricDilatedConvolution
