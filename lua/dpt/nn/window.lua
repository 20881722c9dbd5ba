--- dpt.nn.window: describes the window of a convolution or pooling to the C library (dpt_window).
--
-- Invariant: the window is read from the module's Torch7 fields at every call, so scripts may
-- change them. Dimensions are ordered T (if the module has kT), H, W.

local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local ffi, C, torch = dptffi.ffi, dptffi.C, class.torch

local M = {}

local Window = ffi.typeof('dpt_window')
local planes, volumes = {'H', 'W'}, {'T', 'H', 'W'}

-- Returns the flags of the algorithm search, from the table cudnn and module:fastest().
local function search(module)
   local cudnn = class.packages.cudnn
   if not cudnn then return 0 end
   return (cudnn.benchmark and C.DPT_SEARCH_BENCHMARK or 0)
      + ((cudnn.fastest or module.fastest_mode) and C.DPT_SEARCH_FASTEST or 0)
      + (cudnn.verbose and C.DPT_SEARCH_VERBOSE or 0)
end

--- Returns the window of a module.
-- @param module with fields kW kH dW dH padW padH, and optionally dilationW dilationH adjW adjH,
--    ceil_mode, count_include_pad; for volumes also those of T: kT dT padT and so on
-- @param transposed true for SpatialFullConvolution and the like
-- @return a dpt_window
function M.of(module, transposed)
   local window = Window()
   local axes = module.kT and volumes or planes
   window.ndim = #axes
   window.groups = module.groups or 1
   window.transposed = transposed and 1 or 0
   window.ceil = module.ceil_mode and 1 or 0
   window.search = search(module)
   window.count_pad = module.count_include_pad == false and 0 or 1
   for i, axis in ipairs(axes) do
      window.kernel[i - 1] = module['k' .. axis]
      window.stride[i - 1] = module['d' .. axis]
      window.pad[i - 1] = module['pad' .. axis] or 0
      window.dilation[i - 1] = module['dilation' .. axis] or 1
      window.adjust[i - 1] = module['adj' .. axis] or module['a' .. axis] or 0
   end
   return window
end

--- Returns sizes as a C array, outermost dimension first.
function M.sizes(...)
   return ffi.new('int64_t[?]', select('#', ...), ...)
end

-- Returns a field's values for all dimensions, in the order T, W, H, and true if one differs from
-- the default.
local function values(module, field, default)
   local list, other = {}, false
   for _, axis in ipairs(module.kT and {'T', 'W', 'H'} or {'W', 'H'}) do
      list[#list + 1] = module[field .. axis] or default
      other = other or list[#list] ~= default
   end
   return list, other
end

--- Formats a convolution's sizes: 'in -> out, kernel', then stride, padding, adj and dilation in
-- Torch7's format.
function M.text(module)
   local strides, strided = values(module, 'd', 1)
   local pads, padded = values(module, 'pad', 0)
   local adjusts, adjusted = values(module, 'adj', 0)
   local text = ('%d -> %d, %s'):format(module.nInputPlane, module.nOutputPlane,
      table.concat((values(module, 'k')), 'x'))
   if strided or padded then text = text .. ', ' .. table.concat(strides, ',') end
   if padded then text = text .. ', ' .. table.concat(pads, ',') end
   if adjusted then text = text .. ', ' .. table.concat(adjusts, ',') end
   if module.dilationW then
      text = text .. ', ' .. table.concat((values(module, 'dilation', 1)), ',')
   end
   return text
end

--- Adds ceil, floor and __tostring__ to a class of poolings.
function M.pooling(methods)

   --- Rounds the output's sizes up, so that the last window may extend past the border.
   -- @function nn.SpatialMaxPooling:ceil
   -- @as method
   -- @within nn pooling
   -- @also nn.SpatialAveragePooling:ceil()
   -- @return the module
   -- @usage nn.SpatialMaxPooling(2, 2, 2, 2):ceil():forward(torch.ones(1, 3, 3)):size() --> 1x2x2
   function methods:ceil()
      self.ceil_mode = true
      return self
   end

   --- Rounds the output's sizes down, which is the default.
   -- @function nn.SpatialMaxPooling:floor
   -- @as method
   -- @within nn pooling
   -- @also nn.SpatialAveragePooling:floor()
   -- @return the module
   -- @usage nn.SpatialMaxPooling(2, 2, 2, 2):ceil():floor()
   --       :forward(torch.ones(1, 3, 3)) :size() --> 1x1x1
   function methods:floor()
      self.ceil_mode = false
      return self
   end

   function methods:__tostring__()
      local s = ('%s(%dx%d, %d,%d'):format(torch.type(self), self.kW, self.kH, self.dW, self.dH)
      if self.padW ~= 0 or self.padH ~= 0 then
         s = s .. (', %d,%d'):format(self.padW, self.padH)
      end
      return s .. ')'
   end
end

return M
