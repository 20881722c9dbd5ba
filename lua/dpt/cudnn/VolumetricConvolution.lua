--- cudnn.VolumetricConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH,
-- groups): nn.VolumetricConvolution in groups.
-- Invariant: weight is nOutputPlane x (nInputPlane / groups) x kT x kH x kW.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'
local fail = require('dpt.ffi').fail

local VolumetricConvolution, parent =
   torch.class('cudnn.VolumetricConvolution', 'nn.VolumetricConvolution')

function VolumetricConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW,
   padH, groups)
   self.groups = groups or 1
   if nInputPlane % self.groups ~= 0 or nOutputPlane % self.groups ~= 0 then
      fail('cudnn.VolumetricConvolution: %d and %d planes do not divide into %d groups',
         nInputPlane, nOutputPlane, self.groups)
   end
   parent.__init(self, nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
end

function VolumetricConvolution:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane / self.groups, self.kT, self.kH,
      self.kW}
end

algorithms.add(VolumetricConvolution)

return VolumetricConvolution
