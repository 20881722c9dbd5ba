--- nn.SpatialUpSamplingNearest(scale): upsamples an image by repeating every pixel scale x scale
-- times.
-- Invariant: input is (N)xCxHxW. scale is an integer.
-- @function nn.SpatialUpSamplingNearest
-- @within nn sampling
-- @as layer
-- @return a module; forward: B x C x H x W or one image -> H and W times scale
-- @usage nn.SpatialUpSamplingNearest(2):forward(torch.Tensor{{{1, 2}}}) --> [1 1 2 2 1 1 2 2]

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise, type, lib = dptffi.raise, dptffi.type, dptffi.lib

local SpatialUpSamplingNearest, parent = torch.class('nn.SpatialUpSamplingNearest', 'nn.Module')

function SpatialUpSamplingNearest:__init(scale)
   parent.__init(self)
   self.scale_factor = scale
   if type(scale) ~= 'number' or scale < 1 or scale ~= math.floor(scale) then
      raise("nn.SpatialUpSamplingNearest: argument 'scale' is " .. tostring(scale)
         .. ', wanted a positive integer')
   end
end

function SpatialUpSamplingNearest:updateOutput(input)
   lib.upsample_nearest_forward(self.output, input, 2, self.scale_factor)
   return self.output
end

function SpatialUpSamplingNearest:updateGradInput(input, gradOutput)
   lib.upsample_nearest_backward(self.gradInput, gradOutput, input, 2, self.scale_factor)
   return self.gradInput
end

return SpatialUpSamplingNearest
