--- image.kernels: Gaussian kernels and Laplacians of Gaussians.
--
-- Invariant: arguments are passed in order, or as one table by name. Means and standard deviations
-- are fractions of the size; a mean of 0.5 is the middle.
local binding = require 'image.ffi'
local torch, type = binding.torch, binding.type

local kernels = {}

--- Returns the arguments of a call by name, with defaults. @param names a list of {name, default}
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

--- Returns ((i - mean size - 0.5) / (width size))^2 / 2 for i from 1 to n. @param size default: n
local function squares(fn, n, mean, width, size)
   n = binding.number(fn, 'size', n, true, 1)
   size = size or n
   return torch.range(1, n):double():add(-(mean * size + 0.5)):div(width * size):pow(2):div(2)
end

--- Returns the matrix of down[i] + across[j].
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

--- Returns a two-dimensional Gaussian kernel. Arguments are passed in this order, or as one table
-- with these names; means and standard deviations are fractions of the size.
-- @function image.gaussian
-- @as image
-- @param size? number: rows and columns (3)
-- @param sigma? number: standard deviation (0.25)
-- @param amplitude? number: largest value (1)
-- @param normalize? boolean: true: scales the kernel so that its sum is 1
-- @param width? number: columns (size)
-- @param height? number: rows (size)
-- @param sigma_horz? number: horizontal standard deviation (sigma)
-- @param sigma_vert? number: vertical standard deviation (sigma)
-- @param mean_horz? number: horizontal position of the maximum (0.5)
-- @param mean_vert? number: vertical position of the maximum (0.5)
-- @param tensor? tensor: output tensor, which gives the size; allocated if omitted
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

--- Returns a one-dimensional Gaussian kernel. Arguments are passed in this order, or as one table
-- with these names.
-- @function image.gaussian1D
-- @as image
-- @param size? number: number of elements (3)
-- @param sigma? number: standard deviation, as a fraction of the size (0.25)
-- @param amplitude? number: largest value (1)
-- @param normalize? boolean: true: scales the kernel so that its sum is 1
-- @param mean? number: position of the maximum, as a fraction of the size (0.5)
-- @param tensor? tensor: output tensor, which gives the size; allocated if omitted
-- @return a vector
-- @usage require('image').gaussian1D(3)[2] --> 1
function kernels.gaussian1D(...)
   local o = named({{'size', 3}, {'sigma', 0.25}, {'amplitude', 1}, {'normalize', false},
      {'mean', 0.5}, {'tensor'}}, ...)
   local n = torch.isTensor(o.tensor) and o.tensor:nElement() or o.size
   return finish('image.gaussian1D', o,
      squares('image.gaussian1D', n, o.mean, o.sigma):mul(-1):exp():mul(o.amplitude))
end

--- Returns the Laplacian of a Gaussian. The arguments are those of image.gaussian without `tensor`.
-- As in Torch7, sigma_horz and mean_horz are the vertical ones here, and sigma_vert and mean_vert
-- the horizontal ones.
-- @function image.laplacian
-- @as image
-- @param size? number: rows and columns (3)
-- @param sigma? number: standard deviation (0.1)
-- @param ...? any: the other arguments of image.gaussian
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
