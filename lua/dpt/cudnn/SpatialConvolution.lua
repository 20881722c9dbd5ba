--- cudnn.SpatialConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, groups):
-- nn.SpatialConvolution with groups: each group of planes is convolved separately.
-- Invariant: weight is nOutputPlane x (nInputPlane / groups) x kH x kW.

local torch = require 'dpt.tensor'
local algorithms = require 'dpt.cudnn.algorithms'
local fail = require('dpt.ffi').fail

local SpatialConvolution, parent =
   torch.class('cudnn.SpatialConvolution', 'nn.SpatialConvolution')

function SpatialConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, groups)
   self.groups = groups or 1
   if nInputPlane % self.groups ~= 0 or nOutputPlane % self.groups ~= 0 then
      fail('cudnn.SpatialConvolution: %d and %d planes do not divide into %d groups',
         nInputPlane, nOutputPlane, self.groups)
   end
   parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
end

function SpatialConvolution:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane / self.groups, self.kH, self.kW}
end

algorithms.add(SpatialConvolution)

--- Applies a 2-D convolution in groups of planes, which are convolved separately.
-- @function cudnn.SpatialConvolution
-- @as cudnn
-- @return a module; forward: (N x) nInputPlane x H x W -> (N x) nOutputPlane x H' x W'
-- @usage cudnn.SpatialConvolution(4, 6, 3, 3, 1, 1, 1, 1, 2)
--       :cuda() :forward(torch.CudaTensor(1, 4, 5, 5):fill(1)):size() --> 1x6x5x5

return SpatialConvolution
