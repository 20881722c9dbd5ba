--- image.colour: converts between colour spaces, and makes colour maps.
--
-- Invariant: conversions take ([destination,] source), and the source has three planes. Floats and
-- doubles are from 0 to 1 (except in lab), bytes from 0 to 255.
local binding = require 'image.ffi'
local C, torch, fail, check = binding.C, binding.torch, binding.fail, binding.check

local colour = {}

local function split(a, b)
   if b ~= nil then return a, b end
   return nil, a
end

--- Checks a source of three planes; returns the source, and a destination of `planes` planes with
-- the tensor to compute into (see binding.result).
local function begin(fn, planes, ...)
   local dst, src = split(...)
   binding.three(fn, 'input', src)
   return src, binding.result(fn, dst, src, planes, src:size(2), src:size(3))
end

--- Converts between the colour spaces that the name gives. Floats are from 0 to 1 (in lab L is
-- larger, and a and b may be negative), bytes from 0 to 255.
-- @function image.rgb2hsl
-- @as image
-- @also image.hsl2rgb()
-- @also image.rgb2hsv()
-- @also image.hsv2rgb()
-- @also image.rgb2lab()
-- @also image.lab2rgb()
-- @param input tensor: 3 x H x W; a destination may come before it
-- @return 3 x H x W
-- @usage require('image').rgb2hsv(torch.Tensor(3, 1, 1):fill(0.5)) --> [0 0 0.5]
for _, name in ipairs{'rgb2hsl', 'hsl2rgb', 'rgb2hsv', 'hsv2rgb', 'rgb2lab', 'lab2rgb'} do
   colour[name] = function(...)
      local fn = 'image.' .. name
      local src, dst, to = begin(fn, 3, ...)
      if name:find 'lab' and torch.type(src) == 'torch.ByteTensor' then
         fail('%s: got a torch.ByteTensor, wanted floats or doubles: lab has negative numbers', fn)
      end
      check(fn, C.dpt_image_colour(binding.struct(src), binding.struct(to), name,
         binding.threads()))
      return binding.deliver(dst, to)
   end
end

--- Computes each plane of the result as a weighted sum of the source's planes, with the weights of
-- a row of `rows`. Bytes are rounded and clamped.
local function mixed(fn, rows, ...)
   local src, dst, to = begin(fn, #rows, ...)
   local isByte = torch.type(src) == 'torch.ByteTensor'
   local from = isByte and src:float() or src
   for i, row in ipairs(rows) do
      local sum = torch.mul(from[1], row[1]):add(row[2], from[2]):add(row[3], from[3])
      to[i]:copy(isByte and sum:round():clamp(0, 255) or sum)
   end
   return binding.deliver(dst, to)
end

--- Converts RGB to YUV: luma and two colour differences.
-- @function image.rgb2yuv
-- @as image
-- @param input tensor: 3 x H x W; a destination may come before it
-- @return 3 x H x W
-- @usage require('image').rgb2yuv(torch.ones(3, 1, 1)):size() --> 3x1x1
function colour.rgb2yuv(...)
   return mixed('image.rgb2yuv', {{0.299, 0.587, 0.114}, {-0.14713, -0.28886, 0.436},
      {0.615, -0.51499, -0.10001}}, ...)
end

--- Converts YUV to RGB: the inverse of image.rgb2yuv.
-- @function image.yuv2rgb
-- @as image
-- @param input tensor: 3 x H x W; a destination may come before it
-- @return 3 x H x W
-- @usage require('image').yuv2rgb(torch.zeros(3, 1, 1)) --> [0 0 0]
function colour.yuv2rgb(...)
   return mixed('image.yuv2rgb', {{1, 0, 1.13983}, {1, -0.39465, -0.58060}, {1, 2.03211, 0}}, ...)
end

--- Converts RGB to greyscale: the luma Y of YUV.
-- @function image.rgb2y
-- @as image
-- @param input tensor: 3 x H x W; a destination may come before it
-- @return 1 x H x W
-- @usage require('image').rgb2y(torch.ones(3, 1, 1)) --> [1]
function colour.rgb2y(...) return mixed('image.rgb2y', {{0.299, 0.587, 0.114}}, ...) end

--- Divides each channel of a pixel by the sum of its three channels (normalized RGB).
-- @function image.rgb2nrgb
-- @as image
-- @param input tensor: 3 x H x W; a destination may come before it
-- @return 3 x H x W
-- @usage require('image').rgb2nrgb(torch.ones(3, 1, 1)):mul(3):round() --> [1 1 1]
function colour.rgb2nrgb(...)
   local src, dst, to = begin('image.rgb2nrgb', 3, ...)
   local sum = torch.add(src[1], src[2]):add(src[3]):add(1e-6)
   for i = 1, 3 do to[i]:copy(torch.cdiv(src[i], sum)) end
   return binding.deliver(dst, to)
end

--- Returns a colour map from blue through green to red.
-- @function image.jetColormap
-- @as image
-- @param n number: number of colours
-- @return a tensor, n x 3
-- @usage require('image').jetColormap(8):size() --> 8x3
function colour.jetColormap(n)
   n = binding.number('image.jetColormap', 'n', n, true, 1)
   local map, level = torch.Tensor(n, 3), torch.range(1, n):mul(4 / n):typeAs(torch.Tensor())
   for i = 1, 3 do -- a trapezoid, highest around level 3, 2 and 1
      local roof = torch.add(level, i - 4):abs():mul(-1):add(1.5):clamp(0, 1)
      map:select(2, i):copy(roof)
   end
   return map
end

--- Returns a colour map of clearly different hues, for labels.
-- @function image.colormap
-- @as image
-- @param n number: number of colours
-- @return a tensor, n x 3
-- @usage require('image').colormap(5):size() --> 5x3
function colour.colormap(n)
   n = binding.number('image.colormap', 'n', n, true, 1)
   local hsl = torch.DoubleTensor(3, 1, n):fill(0.5)
   for i = 1, n do
      hsl[1][1][i] = (i - 1) * 39 % 360 / 360
      hsl[2][1][i] = (i - 1) / 9 % 0.7 + 0.3
   end
   return colour.hsl2rgb(hsl):view(3, n):t():contiguous():typeAs(torch.Tensor())
end

--- Colours a plane of integers with image.jetColormap: 1 is blue, the largest value red.
-- @function image.y2jet
-- @as image
-- @param levels tensor: H x W or 1 x H x W, integers from 1; a destination may come before it
-- @return 3 x H x W
-- @usage require('image').y2jet(torch.Tensor{{1, 2}, {3, 4}}):size() --> 3x2x2
function colour.y2jet(...)
   local dst, src = split(...)
   binding.picture('image.y2jet', 'input', src, 1, 3)
   if src:dim() == 3 and src:size(1) ~= 1 then
      fail("image.y2jet: argument 'input' is %s, wanted one plane", binding.describe(src))
   end
   local h = src:dim() == 1 and 1 or src:size(src:dim() - 1)
   local w, most = src:size(src:dim()), math.floor(src:max())
   if src:min() < 1 or src:ne(src):any() then
      fail('image.y2jet: levels are %g to %g, wanted whole numbers from 1 on', src:min(), most)
   end
   local map = colour.jetColormap(most)
   if torch.type(src) == 'torch.ByteTensor' then map:mul(255):round() end
   local to
   dst, to = binding.result('image.y2jet', dst, src, 3, h, w)
   local levels = src:long():view(h * w)
   to:copy(map:typeAs(src):index(1, levels):t():contiguous():view(3, h, w))
   return binding.deliver(dst, to)
end

return colour
