--- nn.UpSampling(scale, mode): upsamples images or volumes in the mode 'nearest' (the default) or
-- 'linear'. In the mode 'linear', scale may be {oheight = , owidth = [, odepth = ]}.
-- Invariant: input is (N)xCxHxW for images and NxCxTxHxW for volumes. In the mode 'linear', the
-- corners of input and output are aligned.
-- @function nn.UpSampling
-- @within nn sampling
-- @as layer
-- @param mode 'nearest' or 'linear'
-- @return a module; forward: B x C x H x W or B x C x T x H x W -> larger sizes
-- @usage nn.UpSampling(3, 'nearest'):forward(torch.ones(1, 1, 2, 2)):size() --> 1x1x6x6

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local raise, type, lib = dptffi.raise, dptffi.type, dptffi.lib

local UpSampling, parent = torch.class('nn.UpSampling', 'nn.Module')

local modes = {linear = 'linear', bilinear = 'linear', trilinear = 'linear'}

function UpSampling:__init(params, mode)
   parent.__init(self)
   self.mode = modes[mode] or 'nearest'
   if type(params) == 'table' then
      if self.mode == 'nearest' then
         raise("nn.UpSampling: mode 'nearest' requires a scale, got a table of sizes")
      end
      self.odepth, self.oheight, self.owidth = params.odepth, params.oheight, params.owidth
      if not (self.oheight and self.owidth) then
         raise('nn.UpSampling: wanted a scale or {oheight = , owidth = [, odepth = ]}')
      end
      return
   end
   if type(params) ~= 'number' or params < 1 or params ~= math.floor(params) then
      raise("nn.UpSampling: argument 'scale' is " .. tostring(params)
         .. ', wanted a positive integer')
   end
   self.scale_factor = params
end

local function spatialDims(input)
   return input:dim() == 5 and 3 or 2
end

--- Returns the output's sizes for the mode 'linear', outermost dimension first.
-- @function nn.UpSampling:sizes
-- @as author
-- @param input tensor: (N x) C x H x W, or of a volume
-- @return C data: the sizes, indexed from 0
-- @usage tonumber(nn.UpSampling(2, 'linear'):sizes(torch.ones(1, 1, 2, 3))[1]) --> 6
function UpSampling:sizes(input)
   local dims, n = spatialDims(input), input:dim()
   local sizes = {self.oheight, self.owidth}
   if self.scale_factor then
      for d = 1, dims do sizes[d] = input:size(n - dims + d) * self.scale_factor end
   elseif dims == 3 then
      if not self.odepth then
         raise('nn.UpSampling: a volume requires {odepth = , oheight = , owidth = }')
      end
      table.insert(sizes, 1, self.odepth)
   end
   return window.sizes(unpack(sizes))
end

function UpSampling:updateOutput(input)
   if self.mode == 'nearest' then
      lib.upsample_nearest_forward(self.output, input, spatialDims(input), self.scale_factor)
   else
      lib.upsample_linear_forward(self.output, input, spatialDims(input), self:sizes(input))
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
   local size = self.scale_factor and self.scale_factor .. 'x'
      or table.concat({self.odepth or self.oheight, self.odepth and self.oheight or self.owidth,
         self.odepth and self.owidth}, 'x')
   return ('%s(%s, %s)'):format(torch.type(self), size, self.mode)
end

return UpSampling
