--- dpt.tensor.reduce: sums, extrema, sorting and other reductions, over all elements or a
-- dimension.
--
-- Invariant: the reduced dimension is kept, with size 1; a reduction over all elements returns a
-- Lua number (on a device it waits for the tensor's stream only). Results may be passed first; if
-- there are two, values and indices, the second is a LongTensor on the operand's side, or a
-- CudaTensor.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType, fresh = ffi.istype, core.tensorType, core.fresh
local define, dimension = core.define, core.dimension
local checkNumber, checkInteger = core.checkNumber, core.checkInteger
local longsFor, indicesInto = core.longsFor, core.indicesInto
local torch, usage, LONG, ON_DEVICE = class.torch, core.usage, core.LONG, core.ON_DEVICE

local value = ffi.new 'double[1]'

local function isTensor(v) return istype(tensorType, v) end

--- Returns a new index tensor on the side of x.
local function indices(x)
   return fresh(x.kind_ >= ON_DEVICE and LONG + ON_DEVICE or LONG)
end

local function reduction(name)
   local number = C.dpt_reduction(name)
   assert(number >= 0, name)
   return number
end

-- cutorch has means of integers on devices and truncates their fractions.
local function wholeOnDevice(x) return x.kind_ >= ON_DEVICE and x.kind_ % ON_DEVICE <= LONG end
local function wholeMean(r, x, dim)
   if dim == nil then
      local mean = x:sum() / x:nElement()
      return mean < 0 and math.ceil(mean) or math.floor(mean)
   end
   r = r or fresh(x.kind_)
   return r:sum(x, dim):div(x:size(dim))
end

--- [r] x dim -> r; x -> number
for _, name in ipairs{'sum', 'prod', 'mean'} do
   local number = reduction(name)
   define(name, function(a, b, c)
      local r, x, dim = a, b, c
      if not isTensor(b) then r, x, dim = nil, a, b end
      if not isTensor(x) or (r and (not isTensor(r) or dim == nil)) then
         usage(name, '[result] tensor [dimension]', a, b, c)
      end
      if name == 'mean' and wholeOnDevice(x) then return wholeMean(r, x, dim) end
      if dim == nil then
         lib.reduce_all(number, x, 0, value)
         return value[0]
      end
      r = r or fresh(x.kind_)
      lib.reduce(number, r, nil, x, dimension(name, x, dim), 0)
      return r
   end)
end

--- [r] x dim [biased] -> r; x [biased] -> number
for _, name in ipairs{'var', 'std'} do
   local number = reduction(name)
   define(name, function(a, b, c, d)
      local r, x, dim, biased = a, b, c, d
      if not isTensor(b) then r, x, dim, biased = nil, a, b, c end
      if type(dim) == 'boolean' then dim, biased = nil, dim end
      if not isTensor(x) or (r and (not isTensor(r) or dim == nil)) then
         usage(name, '[result] tensor [dimension] [boolean]', a, b, c, d)
      end
      local p = biased and 1 or 0
      if dim == nil then
         lib.reduce_all(number, x, p, value)
         return value[0]
      end
      r = r or fresh(x.kind_)
      lib.reduce(number, r, nil, x, dimension(name, x, dim), p)
      return r
   end)
end

--- [r] x p dim -> r; x [p] -> number
local norm = reduction 'norm'
define('norm', function(a, b, c, d)
   local r, x, p, dim = a, b, c, d
   if not isTensor(b) then r, x, p, dim = nil, a, b, c end
   if not isTensor(x) or (r and (not isTensor(r) or dim == nil)) then
      usage('norm', '[result] tensor [p] [dimension]', a, b, c, d)
   end
   p = p == nil and 2 or checkNumber('norm', 'p', p)
   if dim == nil then
      lib.reduce_all(norm, x, p, value)
      return value[0]
   end
   r = r or fresh(x.kind_)
   lib.reduce(norm, r, nil, x, dimension('norm', x, dim), p)
   return r
end)

--- [values indices] x dim -> values, indices; x -> number
for _, name in ipairs{'max', 'min'} do
   local number = reduction(name)
   define(name, function(a, b, c, d)
      local r, i, x, dim = a, b, c, d
      if not isTensor(b) then
         r, i, x, dim = nil, nil, a, b
      elseif not isTensor(c) then
         r, i, x, dim = a, nil, b, c
      end
      if not isTensor(x) or (r and (not isTensor(r) or dim == nil)) then
         usage(name, '[values indices] tensor [dimension]', a, b, c, d)
      end
      if dim == nil then
         lib.reduce_all(number, x, 0, value)
         return value[0]
      end
      r, i = r or fresh(x.kind_), i or indices(x)
      local longs = longsFor(i)
      lib.reduce(number, r, longs, x, dimension(name, x, dim), 0)
      return r, indicesInto(i, longs)
   end)
end

--- x -> boolean, of a ByteTensor; [r] x dim -> r
for _, name in ipairs{'all', 'any'} do
   local number = reduction(name)
   define(name, function(a, b, c)
      local r, x, dim = a, b, c
      if not isTensor(b) then r, x, dim = nil, a, b end
      if not isTensor(x) or (r and (not isTensor(r) or dim == nil)) then
         usage(name, '[result] tensor [dimension]', a, b, c)
      end
      if dim == nil then
         lib.reduce_all(number, x, 0, value)
         return value[0] ~= 0
      end
      r = r or fresh(x.kind_)
      lib.reduce(number, r, nil, x, dimension(name, x, dim), 0)
      return r
   end)
end

--- Parses [values indices] x ...; returns values, indices, x and the remaining arguments.
local function pair(name, a, b, c, ...)
   if isTensor(a) and isTensor(b) and isTensor(c) then return a, b, c, ... end
   if isTensor(a) and isTensor(b) then return a, indices(b), b, c, ... end
   if not isTensor(a) then usage(name, '[values indices] tensor ...', a, b, c, ...) end
   return fresh(a.kind_), indices(a), a, b, c, ...
end

--- Defines an operation that f(values, indices, x, ...) computes.
local function paired(name, f)
   local function call(r, i, x, ...)
      local longs = longsFor(i)
      f(r, longs, x, ...)
      return r, indicesInto(i, longs)
   end
   define(name, function(...) return call(pair(name, ...)) end)
end

--- Returns the 0-based dimension; the last one if omitted.
local function lastDimension(name, x, dim)
   if dim == nil then
      if x.ndim_ == 0 then fail('%s: got a tensor with no dimension', name) end
      return x.ndim_ - 1
   end
   return dimension(name, x, dim)
end

--- Computes the lower median along a dimension (the last).
paired('median', function(r, i, x, dim)
   dim = lastDimension('median', x, dim)
   lib.kthvalue(r, i, x, math.floor((tonumber(x.size_[dim]) + 1) / 2), dim)
end)

paired('mode', function(r, i, x, dim) lib.mode(r, i, x, lastDimension('mode', x, dim)) end)

paired('kthvalue', function(r, i, x, k, dim)
   lib.kthvalue(r, i, x, checkInteger('kthvalue', 'k', k), lastDimension('kthvalue', x, dim))
end)

paired('sort', function(r, i, x, dim, descending)
   if type(dim) == 'boolean' then dim, descending = nil, dim end
   lib.sort(r, i, x, lastDimension('sort', x, dim), descending and 1 or 0)
end)

--- Returns the k smallest (or largest) values along a dimension (the last), in any order or sorted.
-- Number arguments may be omitted before booleans.
paired('topk', function(r, i, x, k, dim, largest, sorted)
   if type(k) == 'boolean' then k, dim, largest, sorted = nil, nil, k, dim end
   if type(dim) == 'boolean' then dim, largest, sorted = nil, dim, largest end
   lib.topk(r, i, x, k == nil and 1 or checkInteger('topk', 'k', k), lastDimension('topk', x, dim),
      largest and 1 or 0, sorted and 1 or 0)
end)

-- Returns the distinct elements of a vector in ascending order, and two LongTensors: the position
-- of each of its elements among them, and their counts.
local function distinct(x)
   local sorted, order = torch.sort(x)
   local n = sorted:size(1)
   local isFirst = order.new(n):fill(1)
   if n > 1 then
      isFirst:narrow(1, 2, n - 1):copy(torch.ne(sorted:narrow(1, 2, n - 1),
         sorted:narrow(1, 1, n - 1)))
   end
   local at = isFirst:nonzero():view(-1)
   local inverse = isFirst:clone():indexCopy(1, order, isFirst:cumsum(1))
   local counts = order.new(at:size(1)):fill(n + 1)
   if at:size(1) > 1 then
      counts:narrow(1, 1, at:size(1) - 1):copy(at:narrow(1, 2, at:size(1) - 1))
   end
   return sorted:index(1, at), inverse, counts:csub(at)
end

--- x [sorted] [inverse] [counts] -> values, then the inverse and the counts if they are wanted
define('unique', function(x, _, wantsInverse, wantsCounts)
   if not isTensor(x) then usage('unique', 'tensor [sorted] [inverse] [counts]', x) end
   local values, inverse, counts = fresh(x.kind_), indices(x), indices(x)
   if C.dpt_count(x) > 0 then values, inverse, counts = distinct(x:contiguous():view(-1)) end
   if not wantsInverse then return values, wantsCounts and counts or nil end
   return values, inverse:resize(x:size()), wantsCounts and counts or nil
end)

--- [r] x [dim]: cumulative sums and products, along dimension 1 by default
for _, name in ipairs{'cumsum', 'cumprod'} do
   define(name, function(a, b, c)
      local r, x, dim = a, b, c
      if not isTensor(b) then r, x, dim = nil, a, b end
      if not isTensor(x) or (r and not isTensor(r)) then
         usage(name, '[result] tensor [dimension]', a, b, c)
      end
      r = r or fresh(x.kind_)
      lib[name](r, x, dimension(name, x, dim or 1))
      return r
   end)
end

--- torch.renorm([r,] x, p, dim, maxnorm); the method modifies its tensor in place.
local function renorm(inPlace)
   return function(a, b, c, d, e)
      local r, x, p, dim, most = a, b, c, d, e
      if not isTensor(b) then r, x, p, dim, most = nil, a, b, c, d end
      if not isTensor(x) or (r and not isTensor(r)) then
         usage('renorm', '[result] tensor p dimension maxnorm', a, b, c, d, e)
      end
      r = r or (inPlace and x or fresh(x.kind_))
      lib.renorm(r, x, checkNumber('renorm', 'p', p), dimension('renorm', x, dim),
         checkNumber('renorm', 'maxnorm', most))
      return r
   end
end
torch.renorm = renorm(false)
core.method('renorm', renorm(true))

--- x y -> number
define('dot', function(x, y)
   if not isTensor(x) or not isTensor(y) then usage('dot', 'tensor tensor', x, y) end
   lib.dot(x, y, value)
   return value[0]
end)
define('dist', function(x, y, p)
   if not isTensor(x) or not isTensor(y) then usage('dist', 'tensor tensor [p]', x, y, p) end
   lib.dist(x, y, p == nil and 2 or checkNumber('dist', 'p', p), value)
   return value[0]
end)
define('trace', function(x)
   if not isTensor(x) then usage('trace', 'tensor', x) end
   lib.trace(x, value)
   return value[0]
end)

local answer = ffi.new 'int[1]'
define('equal', function(x, y)
   if not isTensor(x) or not isTensor(y) then usage('equal', 'tensor tensor', x, y) end
   lib.equal(x, y, answer)
   return answer[0] ~= 0
end)

--- Histograms with bins of equal width: over all elements, or row by row.
for _, name in ipairs{'histc', 'bhistc'} do
   local function count(r, x, bins, least, most)
      lib[name](r, x, bins == nil and 100 or checkInteger(name, 'bins', bins),
         least == nil and 0 or checkNumber(name, 'min', least),
         most == nil and 0 or checkNumber(name, 'max', most))
      return r
   end
   define(name, function(a, b, ...)
      if isTensor(a) and isTensor(b) then return count(a, b, ...) end
      if not isTensor(a) then usage(name, '[result] tensor [bins] [min max]', a, b, ...) end
      return count(fresh(a.kind_), a, b, ...)
   end)
end

--- Tags shared by the reference entries of reductions.
-- @pattern reduce
-- @within reductions
-- @param result? tensor: output tensor; allocated if omitted
-- @param x tensor: of any size
-- @param dim? number: counted from 1; all elements if omitted
-- @return a number; with dim, a tensor in which that dimension has size 1
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of reductions.
-- @pattern reduceindex
-- @within reductions
-- @param result? tensor: receives the values
-- @param indices? tensor: a LongTensor that receives the indices
-- @param x tensor: of any size
-- @param dim? number: counted from 1; all elements if omitted
-- @return a number; with dim, the values and a LongTensor of their indices, in which that dimension
--    has size 1
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of reductions.
-- @pattern reducecall
-- @within reductions
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Returns the sum of all elements, or along a dimension.
-- @function torch.sum
-- @as reduce
-- @also Tensor:sum()
-- @usage torch.sum(torch.Tensor{{1, 2}, {3, 4}}, 1) --> [4 6]

--- Returns the product of all elements, or along a dimension.
-- @function torch.prod
-- @as reduce
-- @also Tensor:prod()
-- @usage torch.prod(torch.Tensor{{1, 2}, {3, 4}}, 2) --> [2 12]

--- Returns the mean of all elements, or along a dimension.
-- @function torch.mean
-- @as reduce
-- @also Tensor:mean()
-- @usage torch.mean(torch.Tensor{{1, 2}, {3, 4}}, 1) --> [2 3]

--- Returns the variance (divided by n - 1) of all elements, or along a dimension.
-- @function torch.var
-- @as reduce
-- @also Tensor:var()
-- @usage torch.var(torch.Tensor{1, 2, 3, 4}) --> 1.667

--- Returns the standard deviation (with n - 1) of all elements, or along a dimension.
-- @function torch.std
-- @as reduce
-- @also Tensor:std()
-- @usage torch.std(torch.Tensor{1, 3}) --> 1.414

--- Returns the largest element, or the largest elements along a dimension.
-- @function torch.max
-- @as reduceindex
-- @also Tensor:max()
-- @usage torch.max(torch.Tensor{{1, 9}, {8, 2}}, 2) --> [9 8], [2 1]

--- Returns the smallest element, or the smallest elements along a dimension.
-- @function torch.min
-- @as reduceindex
-- @also Tensor:min()
-- @usage torch.min(torch.Tensor{{1, 9}, {8, 2}}, 2) --> [1 2], [1 2]

--- Returns the median; of an even number of elements, the lower of the two middle ones.
-- @function torch.median
-- @as reduceindex
-- @also Tensor:median()
-- @usage torch.median(torch.Tensor{5, 1, 3}, 1) --> [3], [3]

--- Returns the most frequent elements along a dimension (the last one).
-- @function torch.mode
-- @as reduceindex
-- @also Tensor:mode()
-- @usage torch.mode(torch.Tensor{1, 2, 2, 3}, 1) --> [2], [3]

--- Returns the p-norm of all elements, or along a dimension.
-- @function torch.norm
-- @as reducecall
-- @also Tensor:norm()
-- @param x tensor: of any size
-- @param p? number: the exponent (2)
-- @param dim? number: the dimension; all elements if omitted
-- @return number; with dim, a new tensor in which that dimension has size 1
-- @usage torch.norm(torch.Tensor{3, 4}) --> 5

--- Returns the p-norm of the difference of two tensors, as a number.
-- @function torch.dist
-- @as reducecall
-- @also Tensor:dist()
-- @param x tensor: of any size
-- @param y tensor: of the same size
-- @param p? number: the exponent (2)
-- @return number
-- @usage torch.dist(torch.Tensor{0, 0}, torch.Tensor{3, 4}) --> 5

--- Scales down the slices along a dimension whose p-norm exceeds maxnorm.
-- @function torch.renorm
-- @as reducecall
-- @also Tensor:renorm()
-- @param x tensor: of any size
-- @param p number: the exponent
-- @param dim number: the dimension of the slices
-- @param maxnorm number: the largest norm
-- @return a new tensor of x's sizes
-- @usage torch.renorm(torch.Tensor{{3, 4}, {0, 1}}, 2, 1, 1) --> [0.6 0.8 0 1]

--- Returns true if all elements are nonzero.
-- @function torch.all
-- @as reducecall
-- @also Tensor:all()
-- @param x tensor: ByteTensor
-- @return boolean; along a dimension, a ByteTensor in which it has size 1
-- @usage torch.all(torch.ByteTensor{1, 1, 0}), torch.all(torch.ByteTensor{1, 1}) --> false, true

--- Returns true if any element is nonzero.
-- @function torch.any
-- @as reducecall
-- @also Tensor:any()
-- @param x tensor: ByteTensor
-- @return boolean; along a dimension, a ByteTensor in which it has size 1
-- @usage torch.any(torch.ByteTensor{1, 1, 0}), torch.any(torch.ByteTensor{0, 0}) --> true, false

--- Returns the cumulative sums along a dimension.
-- @function torch.cumsum
-- @as reducecall
-- @also Tensor:cumsum()
-- @param x tensor: of any size
-- @param dim? number: the dimension (1)
-- @return a new tensor of x's sizes
-- @usage torch.cumsum(torch.Tensor{1, 2, 3}) --> [1 3 6]

--- Returns the cumulative products along a dimension.
-- @function torch.cumprod
-- @as reducecall
-- @also Tensor:cumprod()
-- @param x tensor: of any size
-- @param dim? number: the dimension (1)
-- @return a new tensor of x's sizes
-- @usage torch.cumprod(torch.Tensor{1, 2, 3}) --> [1 2 6]

--- Sorts the elements along a dimension; also returns their indices.
-- @function torch.sort
-- @as reducecall
-- @also Tensor:sort()
-- @param x tensor: of any size
-- @param dim? number: the dimension (the last)
-- @param descending? boolean: true: largest first
-- @return tensor, LongTensor: of x's sizes
-- @usage torch.sort(torch.Tensor{3, 1, 2}) --> [1 2 3], [2 3 1]

--- Returns the distinct elements of a tensor in ascending order; NaNs are distinct, and last.
-- @function torch.unique
-- @as reducecall
-- @also Tensor:unique()
-- @param x tensor: of any size and type
-- @param sorted? boolean: for PyTorch's order of arguments; the elements are always sorted
-- @param inverse? boolean: true: also returns the position of each element of x among them
-- @param counts? boolean: true: also returns how often each of them occurs
-- @return a vector; if wanted, a LongTensor of x's size; if wanted, a LongTensor of counts
-- @follows PyTorch's unique
-- @usage torch.unique(torch.Tensor{3, 1, 3}, true, true, true) --> [1 3], [2 1 2], [1 2]

--- Returns the k smallest, or largest, elements along a dimension, and their indices.
-- @function torch.topk
-- @as reducecall
-- @also Tensor:topk()
-- @param x tensor: of any size
-- @param k? number: how many (1)
-- @param dim? number: the dimension (the last)
-- @param largest? boolean: true for the largest
-- @param sorted? boolean: true: in sorted order
-- @return tensor, LongTensor: of x's sizes, but k along the dimension
-- @usage torch.topk(torch.Tensor{3, 1, 2}, 2, 1, false, true) --> [1 2], [2 3]

--- Returns the k-th smallest element along a dimension, and its index.
-- @function torch.kthvalue
-- @as reducecall
-- @also Tensor:kthvalue()
-- @param x tensor: of any size
-- @param k number: the position in sorted order, counted from 1
-- @param dim? number: the dimension (the last)
-- @return tensor, LongTensor: of x's sizes, but 1 along the dimension
-- @usage torch.kthvalue(torch.Tensor{30, 10, 20}, 2) --> [20], [3]

--- Counts the elements in each of `bins` bins of equal width between min and max.
-- @function torch.histc
-- @as reducecall
-- @also Tensor:histc()
-- @param x tensor: of any size
-- @param bins? number: how many (100)
-- @param min? number: the lower bound (the smallest element)
-- @param max? number: the upper bound (the largest element)
-- @return a new vector with one count per bin
-- @usage torch.histc(torch.Tensor{1, 2, 2, 4}, 3, 1, 4) --> [1 2 1]

--- Computes torch.histc of each row of a matrix.
-- @function torch.bhistc
-- @as reducecall
-- @also Tensor:bhistc()
-- @param x tensor: a matrix
-- @param bins? number: how many (100)
-- @param min? number: the lower bound (the smallest element)
-- @param max? number: the upper bound (the largest element)
-- @return a new matrix with a row of counts for each row of x
-- @usage torch.bhistc(torch.Tensor{{1, 2}, {2, 2}}, 2, 1, 2) --> [1 1 0 2]

--- Returns true if two tensors have the same sizes and elements.
-- @function torch.equal
-- @as reducecall
-- @also Tensor:equal()
-- @param x tensor: of any size
-- @param y tensor: of any size
-- @return boolean
-- @usage torch.equal(torch.ones(2), torch.ones(2)), torch.equal(torch.ones(2), torch.ones(3))
--    --> true, false
