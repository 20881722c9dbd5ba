--- nn.SpatialUpSamplingBilinear(scale) or {oheight = , owidth = }: upsamples an image by bilinear
-- interpolation.
-- Invariant: input is (N)xCxHxW. The corners of input and output are aligned.
-- @function nn.SpatialUpSamplingBilinear
-- @within nn sampling
-- @as layer
-- @param scale factor of each side, or {oheight = , owidth = }
-- @return a module; forward: B x C x H x W -> the requested sizes
-- @usage nn.SpatialUpSamplingBilinear{oheight = 5, owidth = 7} :forward(torch.ones(1, 1, 3,
--       3)):size() --> 1x1x5x7

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local raise, type, lib = dptffi.raise, dptffi.type, dptffi.lib

local SpatialUpSamplingBilinear, parent = torch.class('nn.SpatialUpSamplingBilinear', 'nn.Module')

function SpatialUpSamplingBilinear:__init(params)
   parent.__init(self)
   if type(params) == 'table' then
      self.oheight, self.owidth = params.oheight, params.owidth
   else
      self.scale_factor = params
   end
   if not self.scale_factor and not (self.oheight and self.owidth)
      or self.scale_factor and self.scale_factor < 1 then
      raise('nn.SpatialUpSamplingBilinear: wanted a scale of 1 or more, or {oheight = , owidth = }')
   end
end

function SpatialUpSamplingBilinear:updateOutput(input)
   local n = input:dim()
   local height, width = self.oheight, self.owidth
   if self.scale_factor then
      height = input:size(n - 1) * self.scale_factor
      width = input:size(n) * self.scale_factor
   end
   lib.upsample_linear_forward(self.output, input, 2, window.sizes(height, width))
   return self.output
end

function SpatialUpSamplingBilinear:updateGradInput(input, gradOutput)
   lib.upsample_linear_backward(self.gradInput, gradOutput, input, 2)
   return self.gradInput
end

function SpatialUpSamplingBilinear:__tostring__()
   if self.scale_factor then return ('%s(%d)'):format(torch.type(self), self.scale_factor) end
   return ('%s(%d, %d)'):format(torch.type(self), self.oheight, self.owidth)
end

return SpatialUpSamplingBilinear
