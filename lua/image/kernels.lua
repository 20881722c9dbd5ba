--- image.kernels: Gaussians and their Laplacians.
--
-- Invariant: arguments come by place, or as one table by name. Means and widths are shares of the
-- size; cell i of n lies at i, and mean 0.5 is the middle.
local binding = require 'image.ffi'
local torch, type = binding.torch, binding.type

local kernels = {}

--- The arguments of a call by name, with defaults. @param names a list of {name, default}
local function named(names, ...)
   local given, values = (...), {}
   local byName = select('#', ...) == 1 and type(given) == 'table' and given
   for i, name in ipairs(names) do
      local value = byName and byName[name[1]]
      if not byName then value = (select(i, ...)) end
      if value == nil then value = name[2] end
      values[name[1]] = value
   end
   return values
end
kernels.named = named

--- ((i - centre) / (width size))^2 / 2 for i of 1 to n. @param size that shares are of, default n
local function squares(fn, n, mean, width, size)
   n = binding.number(fn, 'size', n, true, 1)
   size = size or n
   return torch.range(1, n):double():add(-(mean * size + 0.5)):div(width * size):pow(2):div(2)
end

--- down[i] + across[j].
local function sums(down, across)
   local h, w = down:size(1), across:size(1)
   return torch.add(down:view(h, 1):expand(h, w), across:view(1, w):expand(h, w))
end

local function finish(fn, o, values)
   if o.normalize then values:div(values:sum()) end
   local tensor = o.tensor
   if tensor == nil then return values:typeAs(torch.Tensor()) end
   local isByte = torch.type(tensor) == 'torch.ByteTensor'
   if not torch.isTensor(tensor) or tensor:dim() ~= values:dim() then
      binding.fail("%s: argument 'tensor' is %s, wanted %d dimensions with elements", fn,
         binding.describe(tensor), values:dim())
   end
   return tensor:copy(isByte and values:add(0.5):floor():clamp(0, 255) or values)
end

local PLANE = {{'size', 3}, {'sigma', 0.25}, {'amplitude', 1}, {'normalize', false}, {'width'},
   {'height'}, {'sigma_horz'}, {'sigma_vert'}, {'mean_horz', 0.5}, {'mean_vert', 0.5}, {'tensor'}}

--- A Gaussian. Arguments come in this order, or as one table by these names; means and widths are
-- shares of the size.
-- @function image.gaussian
-- @as image
-- @param size? number: rows and columns (3)
-- @param sigma? number: its width (0.25)
-- @param amplitude? number: its height (1)
-- @param normalize? boolean: true: the sum is 1
-- @param width? number: columns (size)
-- @param height? number: rows (size)
-- @param sigma_horz? number: its width along rows (sigma)
-- @param sigma_vert? number: its width along columns (sigma)
-- @param mean_horz? number: where it is highest (0.5)
-- @param mean_vert? number: where it is highest (0.5)
-- @param tensor? tensor: where it goes, and its size
-- @return height x width
-- @usage require('image').gaussian{size = 3, normalize = true}:sum() --> 1
function kernels.gaussian(...)
   local o, fn = named(PLANE, ...), 'image.gaussian'
   local given = torch.isTensor(o.tensor) and o.tensor:dim() == 2 and o.tensor
   local down = squares(fn, given and given:size(1) or o.height or o.size, o.mean_vert,
      o.sigma_vert or o.sigma)
   local across = squares(fn, given and given:size(2) or o.width or o.size, o.mean_horz,
      o.sigma_horz or o.sigma)
   return finish(fn, o, sums(down, across):mul(-1):exp():mul(o.amplitude))
end

--- A Gaussian in one dimension. Arguments come in this order, or as one table by these names.
-- @function image.gaussian1D
-- @as image
-- @param size? number: how many (3)
-- @param sigma? number: its width, a share of the size (0.25)
-- @param amplitude? number: its height (1)
-- @param normalize? boolean: true: the sum is 1
-- @param mean? number: where it is highest (0.5)
-- @param tensor? tensor: where it goes, and its size
-- @return a vector
-- @usage require('image').gaussian1D(3)[2] --> 1
function kernels.gaussian1D(...)
   local o = named({{'size', 3}, {'sigma', 0.25}, {'amplitude', 1}, {'normalize', false},
      {'mean', 0.5}, {'tensor'}}, ...)
   local n = torch.isTensor(o.tensor) and o.tensor:nElement() or o.size
   return finish('image.gaussian1D', o,
      squares('image.gaussian1D', n, o.mean, o.sigma):mul(-1):exp():mul(o.amplitude))
end

--- The Laplacian of a Gaussian: image.gaussian's arguments (sigma: 0.1) but the tensor. As in
-- Torch7, what is called horizontal is that of rows.
-- @function image.laplacian
-- @as image
-- @param size? number: rows and columns (3)
-- @param sigma? number: its width (0.1)
-- @param ...? any: the others of image.gaussian
-- @return height x width
-- @usage require('image').laplacian(3)[2][2] --> 1
function kernels.laplacian(...)
   local names, fn = {unpack(PLANE, 1, #PLANE - 1)}, 'image.laplacian'
   names[2] = {'sigma', 0.1}
   local o = named(names, ...)
   local h, w = o.height or o.size, o.width or o.size
   local x = sums(squares(fn, h, o.mean_horz, o.sigma_horz or o.sigma, w),
      squares(fn, w, o.mean_vert, o.sigma_vert or o.sigma, h))
   return finish(fn, o, torch.mul(x, -1):exp():cmul(x:mul(-1):add(1)):mul(o.amplitude))
end

return kernels
