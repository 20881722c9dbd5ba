--- nn.UpSampling(scale, mode): mode 'nearest' (the default) for images and volumes, 'linear' for
-- images.
-- What must stay true: input is (N)xCxHxW for images and NxCxTxHxW for volumes.

local torch = require 'dpt.tensor'
local lib = require 'dpt.nn.lib'
local window = require 'dpt.nn.window'

local UpSampling, parent = torch.class('nn.UpSampling', 'nn.Module')

function UpSampling:__init(params, mode)
   parent.__init(self)
   self.mode = mode or 'nearest'
   if self.mode ~= 'nearest' and self.mode ~= 'linear' then
      error("nn.UpSampling: mode wants 'nearest' or 'linear', got " .. tostring(mode), 2)
   end
   if type(params) ~= 'number' or params < 1 or params ~= math.floor(params) then
      error('nn.UpSampling: scale wants a whole number, got ' .. tostring(params), 2)
   end
   self.scale_factor = params
end

local function spatialDims(input)
   return input:dim() == 5 and 3 or 2
end

function UpSampling:updateOutput(input)
   local dims, n = spatialDims(input), input:dim()
   if self.mode == 'nearest' then
      lib.upsample_nearest_forward(self.output, input, dims, self.scale_factor)
   else
      lib.upsample_linear_forward(self.output, input, dims, window.sizes(
         input:size(n - 1) * self.scale_factor, input:size(n) * self.scale_factor))
   end
   return self.output
end

function UpSampling:updateGradInput(input, gradOutput)
   local dims = spatialDims(input)
   if self.mode == 'nearest' then
      lib.upsample_nearest_backward(self.gradInput, gradOutput, input, dims, self.scale_factor)
   else
      lib.upsample_linear_backward(self.gradInput, gradOutput, input, dims)
   end
   return self.gradInput
end

function UpSampling:__tostring__()
   return ('%s(%dx, %s)'):format(torch.type(self), self.scale_factor, self.mode)
end

return UpSampling
