--- nn.VolumetricConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH):
-- applies a 3-D convolution to a volume CxTxHxW or to a batch of volumes.
-- Invariant: weight is nOutputPlane x nInputPlane x kT x kH x kW. padW and padH default to padT.
-- @function nn.VolumetricConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x T x H x W or one volume -> B x nOutputPlane x oT
--    x oH x oW
-- @usage nn.VolumetricConvolution(1, 2, 3, 3, 3):forward(torch.ones(1, 4, 5, 6)):size()
--    --> 2x2x3x4

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local usage = require('dpt.tensor.core').usage

local VolumetricConvolution, parent = torch.class('nn.VolumetricConvolution', 'nn.Module')
local Spatial = torch.getmetatable('nn.SpatialConvolution')

function VolumetricConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW,
   padH)
   parent.__init(self)
   if not (nInputPlane and nOutputPlane and kT and kW and kH) then
      usage(torch.type(self), '(nInputPlane, nOutputPlane, kT, kW, kH [, dT, dW, dH, padT, padW,'
         .. ' padH])', nInputPlane, nOutputPlane, kT, kW, kH)
   end
   self.nInputPlane, self.nOutputPlane = nInputPlane, nOutputPlane
   self.kT, self.kW, self.kH = kT, kW, kH
   self.dT, self.dW, self.dH = dT or 1, dW or 1, dH or 1
   self.padT = padT or 0
   self.padW = padW or self.padT
   self.padH = padH or self.padW
   self.weight = torch.Tensor(self:weightSize())
   self.gradWeight = torch.Tensor(self:weightSize()):zero()
   self.bias = torch.Tensor(nOutputPlane)
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

function VolumetricConvolution:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane, self.kT, self.kH, self.kW}
end

function VolumetricConvolution:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3)
      or 1 / math.sqrt(self.kT * self.kW * self.kH * self.nInputPlane)
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
end

VolumetricConvolution.noBias = Spatial.noBias
VolumetricConvolution.updateOutput = Spatial.updateOutput
VolumetricConvolution.updateGradInput = Spatial.updateGradInput
VolumetricConvolution.accGradParameters = Spatial.accGradParameters
VolumetricConvolution.sharedAccUpdateGradParameters = parent.defaultAccUpdateGradParameters

function VolumetricConvolution:__tostring__()
   return torch.type(self) .. '(' .. window.text(self) .. ')'
end

return VolumetricConvolution
