--- nn.SpatialConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH): applies a 2-D
-- convolution to an image CxHxW or to a batch of images.
-- Invariant: weight is nOutputPlane x nInputPlane x kH x kW. After noBias, the field bias is nil.
-- If the field gradInput is nil, the gradient of the input is not computed.
-- @function nn.SpatialConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x H x W or one image -> B x nOutputPlane x ((H + 2
--    padH - kH) / dH + 1) x ((W + 2 padW - kW) / dW + 1), rounded down
-- @usage nn.SpatialConvolution(3, 8, 3, 3, 1, 1, 1, 1)
--       :forward(torch.ones(2, 3, 6, 6)) :size() --> 2x8x6x6

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local usage = require('dpt.tensor.core').usage
local lib = require('dpt.ffi').lib

local SpatialConvolution, parent = torch.class('nn.SpatialConvolution', 'nn.Module')

function SpatialConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   if not (nInputPlane and nOutputPlane and kW and kH) then
      usage(torch.type(self), '(nInputPlane, nOutputPlane, kW, kH [, dW, dH, padW, padH])',
         nInputPlane, nOutputPlane, kW, kH)
   end
   self.nInputPlane = nInputPlane
   self.nOutputPlane = nOutputPlane
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or 1, dH or 1
   self.padW = padW or 0
   self.padH = padH or self.padW
   self.weight = torch.Tensor(self:weightSize())
   self.gradWeight = torch.Tensor(self:weightSize()):zero()
   self.bias = torch.Tensor(nOutputPlane)
   self.gradBias = torch.Tensor(nOutputPlane):zero()
   self:reset()
end

--- Returns the sizes of the weight.
-- @function nn.SpatialConvolution:weightSize
-- @as author
-- @also nn.VolumetricConvolution:weightSize()
-- @return a LongStorage
-- @usage nn.SpatialConvolution(2, 3, 4, 5):weightSize() --> 3x2x5x4
function SpatialConvolution:weightSize()
   return torch.LongStorage{self.nOutputPlane, self.nInputPlane, self.kH, self.kW}
end

--- Removes the bias of a convolution.
-- @function nn.SpatialConvolution:noBias
-- @as method
-- @within nn convolution
-- @also nn.SpatialDepthWiseConvolution:noBias()
-- @also nn.TemporalRowConvolution:noBias()
-- @also nn.VolumetricConvolution:noBias()
-- @return the module
-- @usage nn.SpatialConvolution(1, 1, 1, 1):noBias():forward(torch.zeros(1, 2, 2)) --> [0 0 0 0]
function SpatialConvolution:noBias()
   self.bias = nil
   self.gradBias = nil
   return self
end

--- Initializes parameters uniformly in +-stdv sqrt(3), or +-1/sqrt(kW kH nInputPlane) without stdv.
function SpatialConvolution:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW * self.kH * self.nInputPlane)
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
end

function SpatialConvolution:updateOutput(input)
   lib.conv_forward(self.output, input, self.weight, self.bias, window.of(self))
   return self.output
end

function SpatialConvolution:updateGradInput(input, gradOutput)
   if self.gradInput then
      lib.conv_backward_data(self.gradInput, gradOutput, input, self.weight, window.of(self))
      return self.gradInput
   end
end

function SpatialConvolution:accGradParameters(input, gradOutput, scale)
   lib.conv_backward_weight(self.gradWeight, self.gradBias, input, gradOutput,
      window.of(self), scale or 1)
end

SpatialConvolution.sharedAccUpdateGradParameters = parent.defaultAccUpdateGradParameters

function SpatialConvolution:__tostring__()
   return torch.type(self) .. '(' .. window.text(self) .. (self.bias and ')' or ') without bias')
end

return SpatialConvolution
