--- image.filter: convolution, contrast normalization, morphology and image pyramids.
--
-- Invariant: torch.conv2 computes the convolutions. A kernel has two dimensions, or three: one
-- two-dimensional kernel for each plane.
local binding = require 'image.ffi'
local geometry = require 'image.geometry'
local kernels = require 'image.kernels'
local torch, fail = binding.torch, binding.fail

local filter = {}

local MODES = {valid = 'V', full = 'F', same = 'F'}

--- Convolves a picture with a kernel.
-- @function image.convolve
-- @as image
-- @param src tensor: H x W or planes x H x W; a destination may come before it
-- @param kernel tensor: of two dimensions; or of three: one kernel for each plane
-- @param mode? string: 'valid', 'full' or 'same' ('valid')
-- @return the convolved picture
-- @usage require('image').convolve(torch.ones(3, 3), torch.ones(2, 2)) --> [4 4 4 4]
function filter.convolve(...)
   local dst, src, kernel, mode = nil, ...
   if torch.isTensor(mode) then dst, src, kernel, mode = ... end
   binding.picture('image.convolve', 'src', src)
   binding.picture('image.convolve', 'kernel', kernel)
   local how = binding.word('image.convolve', 'mode', mode or 'valid', MODES)
   if kernel:dim() < src:dim() then
      kernel = kernel:view(1, kernel:size(1), kernel:size(2))
         :expand(src:size(1), kernel:size(1), kernel:size(2)):contiguous()
   end
   local out = torch.conv2(src, kernel:typeAs(src), how)
   if mode == 'same' then
      local y = src:dim() - 1
      out = out:narrow(y, math.ceil(kernel:size(y) / 2), src:size(y))
         :narrow(y + 1, math.ceil(kernel:size(y + 1) / 2), src:size(y + 1))
   end
   return dst and dst:resize(out:size()):copy(out) or out
end

--- Scales the elements linearly, so that the smallest becomes 0 and the largest 1.
-- @function image.minmax
-- @as image
-- @param o table: tensor; min and max = the values that become 0 and 1 (the tensor's), symm = true:
--    they default to -m and m, m = the largest absolute value; inplace; saturate = true: clamps to
--    0 to 1, if min or max is given; tensorOut = output tensor
-- @return the scaled tensor
-- @usage require('image').minmax{tensor = torch.Tensor{2, 4, 6}} --> [0 0.5 1]
function filter.minmax(o)
   local source = o and o.tensor
   if not torch.isTensor(source) or source:nElement() == 0 then
      fail("image.minmax: argument 'tensor' is %s, wanted a tensor with elements",
         binding.describe(source))
   end
   local min, max = o.min, o.max
   local out = o.inplace and not o.tensorOut and source
      or (o.tensorOut or torch.Tensor()):resize(source:size()):copy(source)
   local saturate = o.saturate and (min ~= nil or max ~= nil)
   local far = o.symm and math.max(math.abs(out:min()), math.abs(out:max()))
   min = min or (far and -far or out:min())
   max = max and max - min or far and 2 * far or out:max() - min
   if min ~= 0 then out:add(-min) end
   if max ~= 0 then out:div(max) end
   return saturate and out:clamp(0, 1) or out
end

--- Normalizes local contrast: subtracts from each pixel the mean under the kernel, and divides by
-- the standard deviation there, if that exceeds 1. Pixels for which the kernel crosses the edge are
-- omitted.
-- @function image.lcn
-- @as image
-- @param src tensor: one plane
-- @param kernel? tensor: of two dimensions (a Gaussian of 9 x 9)
-- @return a plane
-- @usage require('image').lcn(torch.rand(12, 12)):size() --> 4x4
function filter.lcn(src, kernel)
   binding.picture('image.lcn', 'src', src)
   if src:dim() == 3 and src:size(1) ~= 1 then
      fail("image.lcn: argument 'src' is %s, wanted one plane", binding.describe(src))
   end
   kernel = kernel and kernel:double()
      or kernels.gaussian{size = 9, sigma = 1.591 / 9, normalize = true}:double()
   local x = src:double():clone()
   x = x:dim() == 3 and x[1] or x
   x:add(-x:mean()):div(x:std())
   local mean = torch.conv2(x, kernel)
   local deviation = torch.conv2(torch.cmul(x, x), kernel):add(-1, torch.cmul(mean, mean))
      :cmax(0):sqrt():cmax(1)
   return x:narrow(1, math.floor(kernel:size(1) / 2) + 1, mean:size(1))
      :narrow(2, math.floor(kernel:size(2) / 2) + 1, mean:size(2)):clone():add(-1, mean)
      :cdiv(deviation)
end

--- Returns one plane, padded for a kernel of ones and zeros, and the kernel in doubles.
local function covered(fn, src, kernel, outside)
   binding.picture(fn, 'src', src, 2, 2)
   kernel = kernel or torch.ones(3, 3)
   binding.picture(fn, 'kernel', kernel, 2, 2)
   local h, w = kernel:size(1), kernel:size(2)
   if h % 2 == 0 or w % 2 == 0 then
      fail("%s: argument 'kernel' is %s, wanted odd sizes", fn, binding.describe(kernel))
   end
   local padded = torch.DoubleTensor(src:size(1) + h - 1, src:size(2) + w - 1):fill(outside)
   padded:narrow(1, (h + 1) / 2, src:size(1)):narrow(2, (w + 1) / 2, src:size(2)):copy(src)
   return padded, kernel:double()
end

--- Erodes a binary plane: the result is 1 where the kernel fits inside the ones.
-- @function image.erode
-- @as image
-- @param src tensor: a plane of ones and zeros
-- @param kernel? tensor: of ones and zeros, of odd sizes (3 x 3 ones)
-- @param outside? number: value of pixels outside the plane (1)
-- @return a plane
-- @usage require('image').erode(torch.Tensor{{1, 1, 0}}) --> [1 0 0]
function filter.erode(src, kernel, outside)
   local padded, ones = covered('image.erode', src, kernel, outside or 1)
   return torch.conv2(padded, ones):eq(ones:sum()):typeAs(src)
end

--- Dilates a binary plane: the result is 1 where the kernel overlaps the ones.
-- @function image.dilate
-- @as image
-- @param src tensor: a plane of ones and zeros
-- @param kernel? tensor: of ones and zeros, of odd sizes (3 x 3 ones)
-- @param outside? number: value of pixels outside the plane (0)
-- @return a plane
-- @usage require('image').dilate(torch.Tensor{{1, 0, 0}}) --> [1 1 0]
function filter.dilate(src, kernel, outside)
   local padded, ones = covered('image.dilate', src, kernel, outside or 0)
   return torch.conv2(padded, geometry.hflip(geometry.vflip(ones))):gt(0):typeAs(src)
end

--- Builds a Gaussian pyramid: each level is the previous level, blurred and scaled.
-- @function image.gaussianpyramid
-- @as image
-- @param src tensor: H x W or planes x H x W; a list that receives the levels may come before it
-- @param scales table: the size of each level as a factor of the source's size
-- @return a list of pictures
-- @usage require('image').gaussianpyramid(torch.ones(8, 8), {1, 0.5})[2]:size() --> 4x4
function filter.gaussianpyramid(...)
   local dst, src, scales = ...
   if scales == nil then dst, src, scales = {}, ... end
   binding.picture('image.gaussianpyramid', 'src', src)
   local kernel = kernels.gaussian{width = 3, normalize = true}:typeAs(src)
   local size, last = src:size():totable(), src
   for i, scale in ipairs(scales) do
      local rows = math.floor(size[#size - 1] * scale)
      local columns = math.floor(size[#size] * scale)
      dst[i] = dst[i] or src.new()
      if src:dim() == 3 then dst[i]:resize(size[1], rows, columns)
      else dst[i]:resize(rows, columns) end
      if scale == 1 then dst[i]:copy(last) else geometry.scale(dst[i], last, 'simple') end
      last = filter.convolve(dst[i], kernel, 'same')
   end
   return dst
end

return filter
