--- nn.SpatialLogSoftMax(): applies nn.LogSoftMax over the planes of an image, for every pixel.
-- Invariant: input is (N)xCxHxW.
-- @function nn.SpatialLogSoftMax
-- @within nn transfer
-- @as layer
-- @return a module; forward: C x H x W or B x C x H x W -> the same size
-- @usage nn.SpatialLogSoftMax():forward(torch.zeros(2, 1, 1)) --> [-0.6931 -0.6931]

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local SpatialLogSoftMax, parent = torch.class('nn.SpatialLogSoftMax', 'nn.LogSoftMax')

function SpatialLogSoftMax:__init() parent.__init(self) end

function SpatialLogSoftMax:updateOutput(input)
   if input:dim() ~= 3 and input:dim() ~= 4 then
      fail('nn.SpatialLogSoftMax: input has %d dimensions, wanted 3 or 4', input:dim())
   end
   return parent.updateOutput(self, input)
end

return SpatialLogSoftMax
