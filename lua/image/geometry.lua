--- image.geometry: scales, crops, flips, rotates and warps pictures.
--
-- Invariant: each function takes ([destination,] source, ...) and returns the destination. If the
-- first two arguments are tensors, the first one is the destination. Pictures are H x W or K x H x
-- W.
local binding = require 'image.ffi'
local C, torch, fail, check = binding.C, binding.torch, binding.fail, binding.check
local picture, number, word = binding.picture, binding.number, binding.word
local threads, struct, result, deliver = binding.threads, binding.struct, binding.result,
   binding.deliver
local type = binding.type

local geometry = {}

--- Returns the destination (or nil), the source and the other arguments.
local function split(a, b, ...)
   if torch.isTensor(b) then return a, b, ... end
   return nil, a, b, ...
end

--- Returns the numbers of rows and columns.
local function extent(src) return src:size(src:dim() - 1), src:size(src:dim()) end

--- Returns the sizes of src with other numbers of rows and columns.
local function sizes(src, rows, columns)
   if src:dim() == 2 then return rows, columns end
   return src:size(1), rows, columns
end

local MODES = {simple = 0, bilinear = 1, bicubic = 2, lanczos = 3}
local SCALES = {simple = 0, bilinear = 1, bicubic = 2}
local TURNS = {simple = 0, bilinear = 1}

--- Parses a size: MAX, 'WxH', '^MIN', '*SC' or '*SCn/SCd'. Returns rows and columns, which may have
-- fractions; the caller truncates them, as in Torch7.
local function sized(text, rows, columns)
   local largest = tonumber(text)
   if largest then
      local most = math.max(rows, columns)
      return rows * largest / most, columns * largest / most
   end
   text = tostring(text)
   local w, h = text:match '(%d+)x(%d+)'
   if w then return tonumber(h), tonumber(w) end
   local smallest = tonumber(text:match '%^(%d+)')
   if smallest then
      local least = math.min(rows, columns)
      return rows * smallest / least, columns * smallest / least
   end
   local above, below = text:match '%*(%d+)/(%d+)'
   local scale = above and above / below or tonumber(text:match '%*(.+)')
   if scale then return rows * scale, columns * scale end
   fail("image.scale: argument 'size' is '%s', wanted a number, 'WxH', '^MIN', '*SCALE' or '*N/D'",
      text)
end

--- Scales a picture: scale(src, width, height [, mode]), scale(src, size [, mode]) or scale(dst,
-- src [, mode]).
-- @function image.scale
-- @as image
-- @param src tensor: H x W or planes x H x W; dst, which gives the new size, may come before it
-- @param width number: columns; or, without height, a size: the length of the longer side,
--    '256x128', '^256' (the length of the shorter side), '*0.5' or '*1/2'
-- @param height? number: rows
-- @param mode? string: 'bilinear' (averages the pixels that a smaller result's pixel covers),
--    'bicubic' or 'simple' (nearest pixel) ('bilinear')
-- @return the scaled picture
-- @usage require('image').scale(torch.ones(3, 4, 8), 4):size() --> 3x2x4
function geometry.scale(...)
   local dst, src, a, b, mode = split(...)
   picture('image.scale', 'src', src)
   local rows, columns
   if dst ~= nil then
      mode = a
      picture('image.scale', 'dst', dst)
      if dst:dim() ~= src:dim() or dst:dim() == 3 and dst:size(1) ~= src:size(1) then
         fail('image.scale: the destination is %s, wanted the planes of the source, %s',
            binding.describe(dst), binding.describe(src))
      end
      rows, columns = extent(dst)
   elseif tonumber(b) then
      rows, columns = number('image.scale', 'height', b), number('image.scale', 'width', a)
   else
      mode = b
      rows, columns = sized(a, extent(src))
   end
   rows, columns = math.floor(math.max(rows, 1)), math.floor(math.max(columns, 1))
   local way = word('image.scale', 'mode', mode or 'bilinear', SCALES)
   local to
   dst, to = result('image.scale', dst, src, sizes(src, rows, columns))
   check('image.scale', C.dpt_image_resize(struct(src), struct(to), way, threads()))
   return deliver(dst, to)
end

local CORNERS = {
   c = function(h, w, rows, columns)
      return math.floor((w - columns) / 2), math.floor((h - rows) / 2)
   end,
   tl = function() return 0, 0 end,
   tr = function(_, w, _, columns) return w - columns, 0 end,
   bl = function(h, _, rows) return 0, h - rows end,
   br = function(h, w, rows, columns) return w - columns, h - rows end,
}

--- Copies a rectangle: crop([dst,] src, x1, y1 [, x2, y2]), columns x1 to x2 - 1 and rows y1 to
-- y2 - 1, counted from 0; or crop([dst,] src, corner, width, height).
-- @function image.crop
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param x1 number: first column; or a corner: 'tl', 'tr', 'bl', 'br', or 'c' for the centre
-- @param y1 number: first row; or the width
-- @param x2? number: column after the last one (given by dst's size); or the height
-- @param y2? number: row after the last one
-- @return the rectangle
-- @usage require('image').crop(torch.Tensor{{1, 2}, {3, 4}}, 1, 0, 2, 2) --> [2 4]
function geometry.crop(...)
   local dst, src, x1, y1, x2, y2 = split(...)
   picture('image.crop', 'src', src)
   if dst ~= nil then picture('image.crop', 'dst', dst) end
   local h, w = extent(src)
   if type(x1) == 'string' and not tonumber(x1) then
      local corner = word('image.crop', 'corner', x1, CORNERS)
      local columns, rows = number('image.crop', 'width', y1), number('image.crop', 'height', x2)
      x1, y1 = corner(h, w, rows, columns)
      x2, y2 = x1 + columns, y1 + rows
   end
   x1, y1 = number('image.crop', 'x1', x1), number('image.crop', 'y1', y1)
   if x2 == nil then
      if dst == nil then fail 'image.crop: wanted x2 and y2, or a destination' end
      local rows, columns = extent(dst)
      x2, y2 = x1 + columns, y1 + rows
   end
   x1, y1 = math.floor(x1), math.floor(y1)
   x2 = math.floor(number('image.crop', 'x2', x2))
   y2 = math.floor(number('image.crop', 'y2', y2))
   if x1 < 0 or y1 < 0 or x2 > w or y2 > h or x2 <= x1 or y2 <= y1 then
      fail('image.crop: columns %d to %d and rows %d to %d are not inside a picture of %d x %d', x1,
         x2, y1, y2, w, h)
   end
   local part = src:narrow(src:dim() - 1, y1 + 1, y2 - y1):narrow(src:dim(), x1 + 1, x2 - x1)
   if dst == nil then return part:clone() end
   return geometry.scale(dst, part:clone())
end

--- Shifts a picture to the right by x columns and down by y rows; uncovered pixels become 0.
-- @function image.translate
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param x number: columns
-- @param y number: rows
-- @return the shifted picture
-- @usage require('image').translate(torch.Tensor{{1, 2}}, 1, 0) --> [0 1]
function geometry.translate(...)
   local dst, src, x, y = split(...)
   picture('image.translate', 'src', src)
   x, y = number('image.translate', 'x', x), number('image.translate', 'y', y)
   x, y = x < 0 and math.ceil(x) or math.floor(x), y < 0 and math.ceil(y) or math.floor(y)
   local h, w = extent(src)
   local to
   dst, to = result('image.translate', dst, src, sizes(src, h, w))
   to:zero()
   local rows, columns = h - math.abs(y), w - math.abs(x)
   if rows > 0 and columns > 0 then
      local function part(m, row, column)
         return m:narrow(m:dim() - 1, row, rows):narrow(m:dim(), column, columns)
      end
      part(to, math.max(y, 0) + 1, math.max(x, 0) + 1)
         :copy(part(src, math.max(-y, 0) + 1, math.max(-x, 0) + 1))
   end
   return deliver(dst, to)
end

local function flip(fn, dst, src, dim)
   local outer, inner, size = 1, 1, src:size():totable()
   for d = 1, dim - 1 do outer = outer * size[d] end
   for d = dim + 1, #size do inner = inner * size[d] end
   local from = src:contiguous()
   local to
   dst, to = result(fn, dst, from, unpack(size))
   if not to:isContiguous() then to = src.new(unpack(size)) end
   check(fn, C.dpt_image_flip(from:data(), to:data(), from:elementSize(), outer, size[dim], inner,
      threads()))
   return deliver(dst, to)
end

--- Reverses a tensor along a dimension.
-- @function image.flip
-- @as image
-- @param src tensor: any host tensor; dst may come before it
-- @param dim number: the dimension
-- @return the flipped tensor
-- @usage require('image').flip(torch.Tensor{1, 2, 3}, 1) --> [3 2 1]
function geometry.flip(...)
   local dst, src, dim = split(...)
   if not torch.isTensor(src) or torch.type(src):find 'Cuda' or src:nElement() == 0 then
      fail("image.flip: argument 'src' is %s, wanted a host tensor with elements",
         binding.describe(src))
   end
   dim = number('image.flip', 'dim', dim, true, 1)
   if dim > src:dim() then
      fail("image.flip: argument 'dim' is %d, wanted 1 to %d", dim, src:dim())
   end
   return flip('image.flip', dst, src, dim)
end

--- Flips a picture horizontally.
-- @function image.hflip
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it, and be src
-- @return the flipped picture
-- @usage require('image').hflip(torch.Tensor{{1, 2}}) --> [2 1]
function geometry.hflip(...)
   local dst, src = split(...)
   return flip('image.hflip', dst, picture('image.hflip', 'src', src), src:dim())
end

--- Flips a picture vertically.
-- @function image.vflip
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it, and be src
-- @return the flipped picture
-- @usage require('image').vflip(torch.Tensor{{1}, {2}}) --> [2 1]
function geometry.vflip(...)
   local dst, src = split(...)
   return flip('image.vflip', dst, picture('image.vflip', 'src', src), src:dim() - 1)
end

--- Rotates a picture around its centre, counter-clockwise; uncovered pixels become 0.
-- @function image.rotate
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param angle number: in radians
-- @param mode? string: 'simple' or 'bilinear'
-- @return the rotated picture, of the same size
-- @usage require('image').rotate(torch.Tensor{{1, 2}, {3, 4}}, 0) --> [1 2 3 4]
function geometry.rotate(...)
   local dst, src, angle, mode = split(...)
   picture('image.rotate', 'src', src)
   angle = number('image.rotate', 'angle', angle)
   local way = word('image.rotate', 'mode', mode or 'simple', TURNS)
   local to
   dst, to = result('image.rotate', dst, src, sizes(src, extent(src)))
   check('image.rotate', C.dpt_image_rotate(struct(src), struct(to), angle, way, threads()))
   return deliver(dst, to)
end

local FULL = {full = 1, valid = 0}

local function unrolled(fn, logarithmic, dst, src, mode, range)
   picture(fn, 'src', src)
   local way = word(fn, 'interpolation', mode or 'simple', TURNS)
   local full = word(fn, 'mode', range or 'valid', FULL)
   local most = math.max(extent(src))
   local to
   if dst ~= nil then
      picture(fn, 'dst', dst, src:dim(), src:dim())
      dst, to = result(fn, dst, src, sizes(src, extent(dst)))
   else
      dst, to = result(fn, nil, src, sizes(src, most, most))
   end
   check(fn, C.dpt_image_polar(struct(src), struct(to), full, logarithmic, way, threads()))
   return deliver(dst, to)
end

--- Maps a picture to polar coordinates: a row for each angle, a column for each distance from the
-- centre.
-- @function image.polar
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param interpolation? string: 'simple' or 'bilinear'
-- @param mode? string: 'valid' (distances up to the nearer edge) or 'full' (up to the corners)
-- @return the picture in these coordinates
-- @usage require('image').polar(torch.ones(4, 4)):size() --> 4x4
function geometry.polar(...)
   return unrolled('image.polar', 0, split(...))
end

--- Maps a picture to log-polar coordinates: a row for each angle, a column for each logarithm of
-- the distance from the centre.
-- @function image.logpolar
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param interpolation? string: 'simple' or 'bilinear'
-- @param mode? string: 'valid' (distances up to the nearer edge) or 'full' (up to the corners)
-- @return the picture in these coordinates
-- @usage require('image').logpolar(torch.ones(6, 4)):size() --> 6x6
function geometry.logpolar(...)
   return unrolled('image.logpolar', 1, split(...))
end

local CLAMPS = {clamp = 0, pad = 1}

--- Splits ([dst,] src, tensor, ...); dst is given if the first three arguments are tensors.
local function splitPair(a, b, c, ...)
   if torch.isTensor(c) then return a, b, c, ... end
   return nil, a, b, c, ...
end

local function warp(fn, dst, src, field, mode, offset, clamp, padding)
   picture(fn, 'src', src)
   if not torch.isTensor(field) or field:dim() ~= 3 or field:size(1) ~= 2
      or field:nElement() == 0 then
      fail("%s: argument 'field' is %s, wanted 2 x H x W: rows, then columns", fn,
         binding.describe(field))
   end
   if padding ~= nil and clamp ~= 'pad' then
      fail("%s: argument 'padding' requires the clamp mode 'pad', got '%s'", fn,
         tostring(clamp or 'clamp'))
   end
   local way, pad = word(fn, 'mode', mode or 'bilinear', MODES),
      word(fn, 'clamp mode', clamp or 'clamp', CLAMPS)
   padding = number(fn, 'padding', padding or 0)
   field = field:float():contiguous()
   local to
   dst, to = result(fn, dst, src, sizes(src, field:size(2), field:size(3)))
   check(fn, C.dpt_image_warp(struct(src), struct(to), field:data(), way,
      offset == false and 0 or 1, pad, padding, threads()))
   return deliver(dst, to)
end

--- Samples each pixel of the result at the source position that a field gives for it.
-- @function image.warp
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param field tensor: 2 x H x W: the row and the column of each pixel's source position
-- @param mode? string: 'bilinear', 'simple', 'bicubic' or 'lanczos'
-- @param offset? boolean: true: positions are relative to the pixel's own position (true)
-- @param clamp? string: positions outside the source read: 'clamp': the nearest edge pixel, 'pad':
--    the padding ('clamp')
-- @param padding? number: value of pixels outside the source (0)
-- @return the warped picture, of the field's size
-- @usage require('image').warp(torch.Tensor{{1, 2}, {3, 4}}, torch.zeros(2, 2, 2))
--    --> [1 2 3 4]
function geometry.warp(...) return warp('image.warp', splitPair(...)) end

--- Applies an affine transform: the result's pixel at p = (row, column) is sampled at
-- c + matrix (p - c) - translation, where c is the centre.
-- @function image.affinetransform
-- @as image
-- @param src tensor: H x W or planes x H x W; dst may come before it
-- @param matrix tensor: 2 x 2
-- @param mode? string: as for image.warp
-- @param translation? tensor: row and column (0, 0)
-- @param clamp? string: as for image.warp
-- @param padding? number: as for image.warp
-- @return the transformed picture
-- @usage require('image').affinetransform(torch.Tensor{{1, 2}, {3, 4}}, torch.eye(2))
--    --> [1 2 3 4]
function geometry.affinetransform(...)
   local fn = 'image.affinetransform'
   local dst, src, matrix, mode, translation, clamp, padding = splitPair(...)
   picture(fn, 'src', src)
   if not torch.isTensor(matrix) or matrix:dim() ~= 2 or matrix:size(1) ~= 2
      or matrix:size(2) ~= 2 then
      fail("%s: argument 'matrix' is %s, wanted 2 x 2", fn, binding.describe(matrix))
   end
   local h, w = extent(src)
   local grid = torch.DoubleTensor(2, h, w)
   grid[1]:copy(torch.range(0, h - 1):mul(-1):add((h - 1) / 2):double():view(h, 1):expand(h, w))
   grid[2]:copy(torch.range(0, w - 1):mul(-1):add((w - 1) / 2):double():view(1, w):expand(h, w))
   local field = grid - torch.mm(matrix:double(), grid:view(2, h * w)):view(2, h, w)
   for d = 1, translation and 2 or 0 do field[d]:add(-translation[d]) end
   return warp(fn, dst, src, field, mode, true, clamp, padding)
end

return geometry
