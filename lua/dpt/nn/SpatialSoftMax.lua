--- nn.SpatialSoftMax(): applies nn.SoftMax over the planes of an image, for every pixel.
-- Invariant: input is (N)xCxHxW.
-- @function nn.SpatialSoftMax
-- @within nn transfer
-- @as layer
-- @return a module; forward: C x H x W or B x C x H x W -> the same size
-- @usage nn.SpatialSoftMax():forward(torch.zeros(4, 1, 1)) --> [0.25 0.25 0.25 0.25]

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local SpatialSoftMax, parent = torch.class('nn.SpatialSoftMax', 'nn.SoftMax')

function SpatialSoftMax:__init() parent.__init(self) end

function SpatialSoftMax:updateOutput(input)
   if input:dim() ~= 3 and input:dim() ~= 4 then
      fail('nn.SpatialSoftMax: input has %d dimensions, wanted 3 or 4', input:dim())
   end
   return parent.updateOutput(self, input)
end

return SpatialSoftMax
