--- nn.VolumetricMaxPooling(kT, kW, kH, dT, dW, dH, padT, padW, padH): takes the maximum of every
-- window of a volume.
-- Invariant: input is (N)xCxTxHxW. All else is as in nn.SpatialMaxPooling.
-- @function nn.VolumetricMaxPooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: B x C x T x H x W or one volume -> smaller T, H and W
-- @usage nn.VolumetricMaxPooling(2, 2, 2):forward(torch.ones(1, 1, 4, 4, 4)):size()
--    --> 1x1x2x2x2

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local VolumetricMaxPooling, parent = torch.class('nn.VolumetricMaxPooling', 'nn.SpatialMaxPooling')
VolumetricMaxPooling.__version = 2

function VolumetricMaxPooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self, kW, kH, dW, dH, padW, padH)
   self.kT = kT
   self.dT = dT or kT
   self.padT = padT or 0
end

function VolumetricMaxPooling:updateGradInput(input, gradOutput)
   lib.maxpool_backward(self.gradInput, gradOutput, input, self.indices, 3)
   return self.gradInput
end

function VolumetricMaxPooling:__tostring__()
   local s = ('%s(%dx%dx%d, %d,%d,%d'):format(torch.type(self), self.kT, self.kW, self.kH, self.dT,
      self.dW, self.dH)
   if self.padT ~= 0 or self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d,%d'):format(self.padT, self.padW, self.padH)
   end
   return s .. ')'
end

return VolumetricMaxPooling
