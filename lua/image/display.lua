--- image.display: arranges pictures in a grid, and writes pictures to files for viewing.
--
-- Invariant: there are no windows: image.display writes a PNG file and prints its name.
local binding = require 'image.ffi'
local files = require 'image.files'
local filter = require 'image.filter'
local geometry = require 'image.geometry'
local kernels = require 'image.kernels'
local torch, fail, type = binding.torch, binding.fail, binding.type

local display = {}

local function isPicture(v)
   return v:dim() == 2 or v:dim() == 3 and (v:size(1) == 1 or v:size(1) == 3)
end

--- Copies a tensor, or a list of images of the same size, to a new tensor.
local function pack(fn, input)
   if torch.isTensor(input) and input:nElement() > 0 then
      return torch.Tensor():resize(input:size()):copy(input)
   end
   if type(input) ~= 'table' or not torch.isTensor(input[1]) then
      fail("%s: argument 'input' is %s, wanted a tensor, or a list of pictures", fn,
         binding.describe(input))
   end
   local first = binding.picture(fn, 'input[1]', input[1])
   local planes = first:dim() == 3 and first:size(1) or 1
   local packed = torch.Tensor(#input, planes, first:size(first:dim() - 1), first:size(first:dim()))
   for i, picture in ipairs(input) do
      if not torch.isTensor(picture) or picture:nElement() ~= first:nElement() then
         fail('%s: input[%d] is %s, wanted the size of input[1]', fn, i, binding.describe(picture))
      end
      packed[i]:copy(picture)
   end
   return packed
end

--- Arranges n x planes x H x W in a grid, `padding` pixels apart; gaps have the largest element.
local function grid(maps, columns, padding)
   local n, planes = maps:size(1), maps:size(2)
   columns = math.min(columns, n)
   local h, w = maps:size(3) + padding, maps:size(4) + padding
   local out = torch.Tensor(planes, h * math.ceil(n / columns), w * columns):fill(maps:max())
   for i = 0, n - 1 do
      out:narrow(2, math.floor(i / columns) * h + math.floor(padding / 2) + 1, maps:size(3))
         :narrow(3, i % columns * w + math.floor(padding / 2) + 1, maps:size(4)):copy(maps[i + 1])
   end
   return out
end

local GRID = {{'input'}, {'padding', 0}, {'nrow', 6}, {'scaleeach', false}, {'min'}, {'max'},
   {'symmetric', false}, {'saturate', true}}

--- Arranges pictures in a grid, and scales the elements to the range 0 to 1. Arguments are passed
-- in this order, or as one table with these names.
-- @function image.toDisplayTensor
-- @as image
-- @param input tensor: a picture, which is only scaled; or K x H x W, n x 1 x H x W, n x 3 x H x W
--    or a list of pictures, which become a grid
-- @param padding? number: pixels between pictures (0)
-- @param nrow? number: columns of the grid (6)
-- @param scaleeach? boolean: true: each picture is scaled separately
-- @param min? number: the value that becomes 0 (the smallest element)
-- @param max? number: the value that becomes 1 (the largest element)
-- @param symmetric? boolean: true: min and max default to -m and m, m = the largest absolute value
-- @param saturate? boolean: true: clamps to 0 to 1, if min or max is given (true)
-- @return a picture
-- @usage require('image').toDisplayTensor{input = torch.rand(4, 3, 2, 2), nrow = 2}:size()
--    --> 3x4x4
function display.toDisplayTensor(...)
   local o, fn = kernels.named(GRID, ...), 'image.toDisplayTensor'
   local packed = pack(fn, o.input)
   local function scale(tensor)
      filter.minmax{tensor = tensor, inplace = true, min = o.min, max = o.max, symm = o.symmetric,
         saturate = o.saturate}
   end
   if isPicture(packed) then
      scale(packed)
      return packed
   end
   local isFlat = packed:dim() == 3
   local maps = isFlat and packed:view(packed:size(1), 1, packed:size(2), packed:size(3)) or packed
   if maps:dim() ~= 4 or maps:size(2) ~= 1 and maps:size(2) ~= 3 then
      fail("%s: argument 'input' is %s, wanted H x W, K x H x W, n x 1 or 3 x H x W", fn,
         binding.describe(packed))
   end
   if o.scaleeach then
      for i = 1, maps:size(1) do scale(maps[i]) end
   end
   local out = grid(maps, binding.number(fn, 'nrow', o.nrow, true, 1),
      binding.number(fn, 'padding', o.padding, true, 0))
   if not o.scaleeach then scale(out) end
   return isFlat and out[1] or out
end

local SHOWN = {{'image'}, {'zoom', 1}, {'min'}, {'max'}, {'legend', 'image.display'}, {'win'},
   {'x', 0}, {'y', 0}, {'scaleeach', false}, {'gui', true}, {'offscreen', false}, {'padding', 0},
   {'symmetric', false}, {'nrow', 6}, {'saturate', true}}
local number = 0

--- Writes the result of image.toDisplayTensor to a PNG file and prints the file's name, as there
-- are no windows. Arguments are passed in Torch7's order, or as one table with Torch7's names.
-- @function image.display
-- @as image
-- @param image tensor: or a list of pictures
-- @param zoom? number: factor of width and height (1)
-- @param min? number: as for toDisplayTensor
-- @param max? number: as for toDisplayTensor
-- @param legend? string: printed before the file's name ('image.display')
-- @param win? table: result of an earlier call, whose file is overwritten
-- @return a table {file = its name, image = the tensor}
-- @usage local p = print
--    print = function() end
--    local w = require('image').display{image = torch.rand(4, 4)}
--    print = p
--    return paths.filep(w.file), os.remove(w.file) --> true, true
function display.display(...)
   local o = kernels.named(SHOWN, ...)
   local picture = display.toDisplayTensor{input = o.image, padding = o.padding, nrow = o.nrow,
      scaleeach = o.scaleeach, min = o.min, max = o.max, symmetric = o.symmetric,
      saturate = o.saturate}
   if o.zoom ~= 1 then
      local dims = picture:dim()
      picture = geometry.scale(picture, math.max(picture:size(dims) * o.zoom, 1),
         math.max(picture:size(dims - 1) * o.zoom, 1), 'simple')
   end
   local window = type(o.win) == 'table' and o.win or {}
   if not window.file then
      number = number + 1
      window.file = os.tmpname() .. ('-%d.png'):format(number)
      os.remove(window.file:match '^(.*)-%d+%.png$')
   end
   window.image = picture
   files.savePNG(window.file, picture)
   print(('%s: written to %s'):format(o.legend, window.file))
   return window
end

return display
