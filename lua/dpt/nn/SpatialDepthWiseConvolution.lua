--- nn.SpatialDepthWiseConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH): convolves
-- every input plane separately into nOutputPlane output planes.
-- Invariant: weight is nOutputPlane x nInputPlane x kH x kW, and bias is nOutputPlane x
-- nInputPlane. Output plane (i - 1) nOutputPlane + o depends on input plane i.
-- @function nn.SpatialDepthWiseConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x H x W -> B x (nInputPlane nOutputPlane) x oH x
--    oW
-- @usage nn.SpatialDepthWiseConvolution(3, 2, 3, 3):forward(torch.ones(1, 3, 6, 6)):size()
--    --> 1x6x4x4

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local SpatialDepthWiseConvolution, parent =
   torch.class('nn.SpatialDepthWiseConvolution', 'nn.Module')

function SpatialDepthWiseConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.nInputPlane, self.nOutputPlane = nInputPlane, nOutputPlane
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or 1, dH or 1
   self.padW = padW or 0
   self.padH = padH or self.padW
   self.weight = torch.Tensor(nOutputPlane, nInputPlane, kH, kW)
   self.bias = torch.Tensor(nOutputPlane, nInputPlane)
   self.gradWeight = torch.Tensor(nOutputPlane, nInputPlane, kH, kW):zero()
   self.gradBias = torch.Tensor(nOutputPlane, nInputPlane):zero()
   self:reset()
end

function SpatialDepthWiseConvolution:noBias()
   self.bias = nil
   self.gradBias = nil
   return self
end

function SpatialDepthWiseConvolution:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW * self.kH * self.nInputPlane)
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
end

local function grouped(self)
   local w = window.of(self)
   w.groups = self.nInputPlane
   return w
end

-- Returns the parameters in the order of a grouped convolution, input plane first.
local function kernels(self)
   local n = self.nInputPlane * self.nOutputPlane
   return self.weight:transpose(1, 2):contiguous():view(n, 1, self.kH, self.kW),
      self.bias and self.bias:t():contiguous():view(n)
end

function SpatialDepthWiseConvolution:updateOutput(input)
   local weight, bias = kernels(self)
   lib.conv_forward(self.output, input, weight, bias, grouped(self))
   return self.output
end

function SpatialDepthWiseConvolution:updateGradInput(input, gradOutput)
   if self.gradInput then
      lib.conv_backward_data(self.gradInput, gradOutput, input, (kernels(self)), grouped(self))
      return self.gradInput
   end
end

function SpatialDepthWiseConvolution:accGradParameters(input, gradOutput, scale)
   local i, o = self.nInputPlane, self.nOutputPlane
   local gradWeight = self.gradWeight.new():resize(i * o, 1, self.kH, self.kW):zero()
   local gradBias = self.bias and self.gradBias.new():resize(i * o):zero()
   lib.conv_backward_weight(gradWeight, gradBias, input, gradOutput, grouped(self), scale or 1)
   self.gradWeight:add(1, gradWeight:view(i, o, self.kH, self.kW):transpose(1, 2))
   if gradBias then self.gradBias:add(1, gradBias:view(i, o):t()) end
end

function SpatialDepthWiseConvolution:__tostring__()
   local s = ('%s(%d -> %d, %dx%d'):format(torch.type(self), self.nInputPlane, self.nOutputPlane,
      self.kW, self.kH)
   if self.dW ~= 1 or self.dH ~= 1 or self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d'):format(self.dW, self.dH)
   end
   if self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d'):format(self.padW, self.padH)
   end
   return s .. (self.bias and ')' or ') without bias')
end

return SpatialDepthWiseConvolution
