--- nn.VolumetricFractionalMaxPooling(poolT, poolW, poolH, outT, outW, outH): applies fractional max
-- pooling, as nn.SpatialFractionalMaxPooling, to volumes (N)xCxHxWxT.
-- Invariant: T is the last dimension, as in Torch7 for this class only. Every plane of every sample
-- draws three numbers.
-- @function nn.VolumetricFractionalMaxPooling
-- @within nn pooling
-- @as layer
-- @param poolSizeT frames of a window
-- @param poolSizeW columns of a window
-- @param poolSizeH rows of a window
-- @param outT frames of the output, or their ratio to the input's frames
-- @param outW columns of the output, or their ratio to the input's columns
-- @param outH rows of the output, or their ratio to the input's rows
-- @return a module; forward: B x C x H x W x T -> B x C x outH x outW x outT
-- @usage nn.VolumetricFractionalMaxPooling(2, 2, 2, 2, 2, 2) :forward(torch.ones(1, 1, 4,
--       4, 4)):size() --> 1x1x2x2x2

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local VolumetricFractionalMaxPooling, parent =
   torch.class('nn.VolumetricFractionalMaxPooling', 'nn.SpatialFractionalMaxPooling')

function VolumetricFractionalMaxPooling:__init(poolSizeT, poolSizeW, poolSizeH, arg1, arg2, arg3)
   parent.__init(self, poolSizeW, poolSizeH, arg2, arg3)
   self.poolSizeT = poolSizeT
   if type(arg1) ~= 'number' or arg1 <= 0 or (arg1 < 1) ~= (self.ratioW ~= nil) then
      raise('nn.VolumetricFractionalMaxPooling: wanted output sizes of 1 or more, or ratios that'
         .. ' are all below 1')
   end
   if self.ratioW then self.ratioT = arg1 else self.outT = arg1 end
end

function VolumetricFractionalMaxPooling:shapes(input)
   local n = input:dim()
   return {self.outH or math.floor(input:size(n - 2) * self.ratioH),
      self.outW or math.floor(input:size(n - 1) * self.ratioW),
      self.outT or math.floor(input:size(n) * self.ratioT)},
      {self.poolSizeH, self.poolSizeW, self.poolSizeT}
end

function VolumetricFractionalMaxPooling:__tostring__()
   return ('%s(%dx%dx%d, %d,%d,%d)'):format(torch.type(self), self.outT or self.ratioT,
      self.outW or self.ratioW, self.outH or self.ratioH, self.poolSizeT, self.poolSizeW,
      self.poolSizeH)
end

return VolumetricFractionalMaxPooling
