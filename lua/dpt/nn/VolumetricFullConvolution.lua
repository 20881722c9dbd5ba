--- nn.VolumetricFullConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW,
-- padH, adjT, adjW, adjH): applies a transposed 3-D convolution.
-- Invariant: weight is nInputPlane x nOutputPlane x kT x kH x kW. All else is as in
-- nn.SpatialFullConvolution.
-- @function nn.VolumetricFullConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x T x H x W -> B x nOutputPlane x larger sizes
-- @usage nn.VolumetricFullConvolution(1, 2, 2, 2, 2, 2, 2, 2) :forward(torch.ones(1, 1, 2,
--       3, 3)):size() --> 1x2x4x6x6

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local VolumetricFullConvolution, parent =
   torch.class('nn.VolumetricFullConvolution', 'nn.VolumetricConvolution')
local Spatial = torch.getmetatable('nn.SpatialFullConvolution')

function VolumetricFullConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT,
   padW, padH, adjT, adjW, adjH)
   parent.__init(self, nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT or 0, padW or 0,
      padH or 0)
   self.adjT, self.adjW, self.adjH = adjT or 0, adjW or 0, adjH or 0
   if self.adjT > self.dT - 1 or self.adjW > self.dW - 1 or self.adjH > self.dH - 1 then
      fail('nn.VolumetricFullConvolution: adj %d,%d,%d must be smaller than the stride'
         .. ' %d,%d,%d', self.adjT, self.adjW, self.adjH, self.dT, self.dW, self.dH)
   end
end

function VolumetricFullConvolution:weightSize()
   return torch.LongStorage{self.nInputPlane, self.nOutputPlane, self.kT, self.kH, self.kW}
end

VolumetricFullConvolution.updateOutput = Spatial.updateOutput
VolumetricFullConvolution.updateGradInput = Spatial.updateGradInput
VolumetricFullConvolution.accGradParameters = Spatial.accGradParameters

return VolumetricFullConvolution
