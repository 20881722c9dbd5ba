--- nn.FeatureLPPooling(width, stride, power, batchMode): the p-norm (sum |x|^p)^(1/p) of windows
-- along the feature dimension, which is the first one or, with batchMode, the second.
-- Invariant: an incomplete window at the end is dropped.
-- @function nn.FeatureLPPooling
-- @within nn pooling
-- @as layer
-- @param width number of features in a window, 2 to 16
-- @param stride distance between windows, 1 to 4
-- @param power the exponent p of the norm, 1 or 2
-- @param batchMode true: dimension 1 is the batch
-- @return a module; forward: B x C or B x C x H x W -> the same with fewer features
-- @usage nn.FeatureLPPooling(2, 2, 2, true):forward(torch.ones(1, 6)):size() --> 1x3

local torch = require 'dpt.tensor'
local usage = require('dpt.tensor.core').usage
local type = require('dpt.ffi').type

local FeatureLPPooling, parent = torch.class('nn.FeatureLPPooling', 'nn.Module')

function FeatureLPPooling:__init(width, stride, power, batchMode)
   parent.__init(self)
   if type(width) ~= 'number' or type(stride) ~= 'number' or type(power) ~= 'number' then
      usage('nn.FeatureLPPooling', '(width, stride, power [, batchMode])', width, stride, power,
         batchMode)
   end
   self.width, self.stride, self.power = width, stride, power
   self.batch_mode = batchMode or false
end

--- Returns element k of every window of t, for k = 1..width.
-- @function nn.FeatureLPPooling:slices
-- @as author
-- @param t tensor: the input
-- @return a list of views
-- @usage #nn.FeatureLPPooling(2, 2, 2, true):slices(torch.ones(1, 4)) --> 2
function FeatureLPPooling:slices(t)
   local windows = t:unfold(self.batch_mode and 2 or 1, self.width, self.stride)
   local list = {}
   for k = 1, self.width do list[k] = windows:narrow(windows:dim(), k, 1) end
   return list
end

function FeatureLPPooling:updateOutput(input)
   local powers = torch.abs(input):pow(self.power)
   local sum
   for _, slice in ipairs(self:slices(powers)) do
      sum = sum and sum:add(1, slice) or slice:clone()
   end
   local size = sum:size():totable()
   size[#size] = nil
   self.output:resize(torch.LongStorage(size)):copy(sum):pow(1 / self.power)
   return self.output
end

-- d/dx = x |x|^(p-2) / y^(p-1), summed over the windows that contain x; 0 where y is 0
function FeatureLPPooling:updateGradInput(input, gradOutput)
   local pull = torch.pow(self.output, 1 - self.power):cmul(gradOutput)
   pull:maskedFill(torch.eq(self.output, 0), 0)
   self.gradInput:resizeAs(input):zero()
   for _, slice in ipairs(self:slices(self.gradInput)) do slice:add(1, pull) end
   self.gradInput:cmul(torch.abs(input):pow(self.power - 1)):cmul(torch.sign(input))
   return self.gradInput
end

function FeatureLPPooling:__tostring__()
   return ('%s(w%d s%d power %g batch %s)'):format(torch.type(self), self.width, self.stride,
      self.power, tostring(self.batch_mode))
end

return FeatureLPPooling
