--- cudnn.VolumetricConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH,
-- groups): nn.VolumetricConvolution with groups: each group of planes is convolved separately.
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

--- Applies a 3-D convolution in groups of planes, which are convolved separately.
-- @function cudnn.VolumetricConvolution
-- @as cudnn
-- @return a module; forward: (N x) nInputPlane x T x H x W -> (N x) nOutputPlane x T' x H' x W'
-- @usage cudnn.VolumetricConvolution(2, 4, 1, 1, 1)
--       :cuda() :forward(torch.CudaTensor(1, 2, 3, 3, 3):fill(1)):size() --> 1x4x3x3x3

return VolumetricConvolution
