--- dpt.tensor.gather: selects elements by index tensors and by masks.
--
-- Invariant: index tensors are 1-based, also in C; a result that must already have a certain
-- size (gather, scatter, index writes) is not resized.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local lib = dptffi.lib
local istype, tensorType, fresh = dptffi.ffi.istype, core.tensorType, core.fresh
local define, dimension, checkNumber = core.define, core.dimension, core.checkNumber
local usage, LONG, ON_DEVICE = core.usage, core.LONG, core.ON_DEVICE

local function isTensor(v) return istype(tensorType, v) end

--- Converts indices and masks as cutorch does: those of a device operand may have its own type, or
-- be on the host.
local function converted(x, t, kind)
   if x.kind_ < ON_DEVICE or t.kind_ == kind
      or t.kind_ ~= x.kind_ and t.kind_ ~= kind - ON_DEVICE then return t end
   local copy = fresh(kind)
   lib.resize_as(copy, t)
   lib.copy(copy, t)
   return copy
end
local function indices(x, t) return converted(x, t, LONG + ON_DEVICE) end
function core.mask(x, t) return converted(x, t, core.BYTE + ON_DEVICE) end
local mask_ = core.mask

--- [r] x dim idx: the slices at the indices
define('index', function(a, b, c, d)
   local r, x, dim, idx = a, b, c, d
   if not isTensor(b) then r, x, dim, idx = nil, a, b, c end
   if not isTensor(x) or not isTensor(idx) or (r and not isTensor(r)) then
      usage('index', '[result] tensor dimension indices', a, b, c, d)
   end
   r = r or fresh(x.kind_)
   lib.index(r, x, dimension('index', x, dim), indices(x, idx))
   return r
end)

--- [r] x dim idx: r is new, of idx's size, or is given with that size
define('gather', function(a, b, c, d)
   local r, x, dim, idx = a, b, c, d
   if not isTensor(b) then r, x, dim, idx = nil, a, b, c end
   if not isTensor(x) or not isTensor(idx) or (r and not isTensor(r)) then
      usage('gather', '[result] tensor dimension indices', a, b, c, d)
   end
   dim = dimension('gather', x, dim)
   if not r then
      r = fresh(x.kind_)
      lib.resize_beside(r, idx.ndim_, idx.size_, x)
   end
   lib.gather(r, x, dim, indices(x, idx))
   return r
end)

--- Indexed writes: NAME(r, dim, idx, tensor) and, if supported, NAME(r, dim, idx, number).
for name, with in pairs{
   indexCopy = {lib.index_copy}, indexAdd = {lib.index_add}, indexFill = {nil, lib.index_fill},
   scatter = {lib.scatter, lib.scatter_fill}, scatterAdd = {lib.scatter_add},
} do
   local byTensor, byNumber = with[1], with[2]
   define(name, function(r, dim, idx, v)
      if not isTensor(r) or not isTensor(idx) then
         local last = byTensor and 'tensor' or 'number'
         usage(name, 'tensor dimension indices ' .. last, r, dim, idx, v)
      end
      dim = dimension(name, r, dim)
      if isTensor(v) then
         if not byTensor then usage(name, 'tensor dimension indices number', r, dim, idx, v) end
         byTensor(r, dim, indices(r, idx), v)
      else
         if not byNumber then usage(name, 'tensor dimension indices tensor', r, dim, idx, v) end
         byNumber(r, dim, indices(r, idx), checkNumber(name, 'value', v))
      end
      return r
   end)
end

define('maskedFill', function(r, mask, v)
   if not isTensor(r) or not isTensor(mask) then
      usage('maskedFill', 'tensor mask number', r, mask, v)
   end
   lib.masked_fill(r, mask_(r, mask), checkNumber('maskedFill', 'value', v))
   return r
end)

define('maskedCopy', function(r, mask, x)
   if not isTensor(r) or not isTensor(mask) or not isTensor(x) then
      usage('maskedCopy', 'tensor mask tensor', r, mask, x)
   end
   lib.masked_copy(r, mask_(r, mask), x)
   return r
end)

--- [r] x mask -> a vector
define('maskedSelect', function(a, b, c)
   local r, x, mask = a, b, c
   if c == nil then r, x, mask = nil, a, b end
   if not isTensor(x) or not isTensor(mask) or (r and not isTensor(r)) then
      usage('maskedSelect', '[result] tensor mask', a, b, c)
   end
   r = r or fresh(x.kind_)
   lib.masked_select(r, x, mask_(x, mask))
   return r
end)

--- [r] x -> a LongTensor with the indices of nonzero elements; x:nonzero()
define('nonzero', function(a, b)
   local r, x = a, b
   if b == nil then r, x = nil, a end
   if not isTensor(x) or (r and not isTensor(r)) then usage('nonzero', '[result] tensor', a, b) end
   r = r or fresh(x.kind_ >= ON_DEVICE and LONG + ON_DEVICE or LONG)
   local longs = core.longsFor(r)
   lib.nonzero(longs, x)
   return core.indicesInto(r, longs)
end)

--- Tags shared by the reference entries of this kind.
-- @pattern into
-- @within tensors
-- @param x tensor: modified in place
-- @return x
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Returns copies of the slices at the given indices.
-- @function torch.index
-- @as viewof
-- @also Tensor:index()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @return a new tensor of x's sizes, except that size(dim) is the number of indices
-- @usage torch.Tensor{10, 20, 30}:index(1, torch.LongTensor{3, 1}) --> [30 10]

--- Copies slices of source to the given indices.
-- @function torch.indexCopy
-- @as into
-- @also Tensor:indexCopy()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @param source tensor: the slices
-- @usage torch.zeros(3):indexCopy(1, torch.LongTensor{2}, torch.Tensor{7}) --> [0 7 0]

--- Adds slices of source at the given indices.
-- @function torch.indexAdd
-- @as into
-- @also Tensor:indexAdd()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @param source tensor: the slices
-- @usage torch.ones(3):indexAdd(1, torch.LongTensor{2, 2}, torch.Tensor{7, 1}) --> [1 9 1]

--- Sets the slices at the given indices to a number.
-- @function torch.indexFill
-- @as into
-- @also Tensor:indexFill()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @param value number: the new value
-- @usage torch.zeros(3):indexFill(1, torch.LongTensor{1, 3}, 5) --> [5 0 5]

--- Gathers elements along a dimension: each result element is taken from the index at its position.
-- @function torch.gather
-- @as viewof
-- @also Tensor:gather()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor of the result's size
-- @return a new tensor of the indices' sizes
-- @usage torch.gather(torch.Tensor{{1, 2}, {3, 4}}, 2, torch.LongTensor{{2}, {1}}) --> [2 3]

--- Copies each source element, along a dimension, to the index at its position.
-- @function torch.scatter
-- @as into
-- @also Tensor:scatter()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @param source tensor or number
-- @usage torch.zeros(1, 3):scatter(2, torch.LongTensor{{3, 1}}, torch.Tensor{{7, 8}})
--    --> [8 0 7]

--- Adds each source element, along a dimension, to the element at the index at its position.
-- @function torch.scatterAdd
-- @as into
-- @also Tensor:scatterAdd()
-- @param dim number: the dimension, counted from 1
-- @param indices tensor: LongTensor
-- @param source tensor: the elements
-- @usage torch.ones(1, 3):scatterAdd(2, torch.LongTensor{{3, 3}}, torch.Tensor{{7, 8}})
--    --> [1 1 16]

--- Sets the elements to a number where the mask is 1.
-- @function torch.maskedFill
-- @as into
-- @also Tensor:maskedFill()
-- @param mask tensor: ByteTensor
-- @param value number: the new value
-- @usage torch.Tensor{1, 2}:maskedFill(torch.ByteTensor{0, 1}, 9) --> [1 9]

--- Copies consecutive elements of source to the positions where the mask is 1.
-- @function torch.maskedCopy
-- @as into
-- @also Tensor:maskedCopy()
-- @param mask tensor: ByteTensor
-- @param source tensor: at least as many elements as the mask has ones
-- @usage torch.Tensor{1, 2, 3}:maskedCopy(torch.ByteTensor{1, 0, 1}, torch.Tensor{7, 8})
--    --> [7 2 8]

--- Returns the elements where the mask is 1, as a vector.
-- @function torch.maskedSelect
-- @as viewof
-- @also Tensor:maskedSelect()
-- @param mask tensor: ByteTensor
-- @return a new vector
-- @usage torch.Tensor{1, 2, 3}:maskedSelect(torch.ByteTensor{1, 0, 1}) --> [1 3]

--- Returns the indices of nonzero elements, one row per element.
-- @function torch.nonzero
-- @as viewof
-- @also Tensor:nonzero()
-- @return LongTensor: N x x:dim(), 1-based indices
-- @usage torch.Tensor{0, 5, 6}:nonzero() --> [2 3]

--- Copies the elements of another tensor.
-- @function torch.copy
-- @as into
-- @also Tensor:copy()
-- @param y tensor: as many elements, of any type, on any device
-- @usage torch.FloatTensor(2):copy(torch.IntTensor{3, 4}) --> [3 4]

--- Copies like torch.copy, but does not wait if the host memory is page-locked.
-- @function torch.copyAsync
-- @as into
-- @also Tensor:copyAsync()
-- @param y tensor: as many elements
-- @usage torch.FloatTensor(2):copyAsync(torch.FloatTensor{3, 4}) --> [3 4]
