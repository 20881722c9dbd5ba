--- nn.VolumetricAveragePooling(kT, kW, kH, dT, dW, dH): averages over every window of a volume.
-- Invariant: input is (N)xCxTxHxW. Strides default to the window's size.
-- @function nn.VolumetricAveragePooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: B x C x T x H x W or one volume -> smaller T, H and W
-- @usage nn.VolumetricAveragePooling(2, 2, 2):forward(torch.ones(1, 4, 4, 4)):size()
--    --> 1x2x2x2

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local VolumetricAveragePooling, parent = torch.class('nn.VolumetricAveragePooling', 'nn.Module')

function VolumetricAveragePooling:__init(kT, kW, kH, dT, dW, dH)
   parent.__init(self)
   self.kT, self.kW, self.kH = kT, kW, kH
   self.dT, self.dW, self.dH = dT or kT, dW or kW, dH or kH
end

function VolumetricAveragePooling:updateOutput(input)
   lib.avgpool_forward(self.output, input, window.of(self))
   return self.output
end

function VolumetricAveragePooling:updateGradInput(input, gradOutput)
   lib.avgpool_backward(self.gradInput, gradOutput, input, window.of(self))
   return self.gradInput
end

function VolumetricAveragePooling:__tostring__()
   return ('%s(%dx%dx%d, %d,%d,%d)'):format(torch.type(self), self.kT, self.kW, self.kH, self.dT,
      self.dW, self.dH)
end

VolumetricAveragePooling.empty = parent.clearState -- its old name

return VolumetricAveragePooling
