--- dpt.tensor.views: views of the same memory, and the related copies.
--
-- Invariant: dimensions and indices are 1-based here and 0-based in C; functions that accept a
-- leading result (torch.view(r, x, ...), r:view(x, ...)) make it a view and return it.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType = ffi.istype, core.tensorType
local torch, define = class.torch, core.define
local tensor, fresh, check, dimension = core.tensor, core.fresh, core.checkTensor, core.dimension
local checkInteger = core.checkInteger
local size = sizes.size

define('narrow', function(t, dim, first, n)
   check('narrow', 'self', t)
   local out = tensor(t.kind_)
   lib.narrow(out, t, dimension('narrow', t, dim), checkInteger('narrow', 'first', first) - 1,
      checkInteger('narrow', 'size', n))
   return out
end)

local value = ffi.new 'double[1]'

--- Returns a slice; a number for a vector.
define('select', function(t, dim, i)
   check('select', 'self', t)
   -- a vector has only one dimension to select: Torch7 ignores dim
   dim = t.ndim_ == 1 and 0 or dimension('select', t, dim)
   i = checkInteger('select', 'index', i)
   local n = tonumber(t.size_[dim])
   if i < 0 then i = n + i + 1 end
   if i < 1 or i > n then
      fail("select: argument 'index' is %d, wanted 1 to %d in dimension %d of a %s", i, n, dim + 1,
         core.describeSize(t))
   end
   if t.ndim_ == 1 then
      lib.get(t, (i - 1) * tonumber(t.stride_[0]), value)
      return value[0]
   end
   local out = tensor(t.kind_)
   lib.select(out, t, dim, i - 1)
   return out
end)

--- sub(first1, last1 [, first2, last2 ...]): narrows each dimension; negative: from the end.
define('sub', function(t, ...)
   check('sub', 'self', t)
   local bounds = {...}
   if #bounds == 0 or #bounds % 2 ~= 0 or #bounds > 2 * t.ndim_ then
      fail('sub: got %d numbers, wanted first and last for up to %d dimensions', #bounds, t.ndim_)
   end
   local out = tensor(t.kind_)
   lib.tensor_set(out, t)
   for d = 0, #bounds / 2 - 1 do
      local n = tonumber(t.size_[d])
      local first = checkInteger('sub', 'first', bounds[2 * d + 1])
      local last = checkInteger('sub', 'last', bounds[2 * d + 2])
      if first < 0 then first = n + first + 1 end
      if last < 0 then last = n + last + 1 end
      lib.narrow(out, out, d, first - 1, last - first + 1)
   end
   return out
end)

define('transpose', function(t, dim1, dim2)
   check('transpose', 'self', t)
   local out = tensor(t.kind_)
   lib.transpose(out, t, dimension('transpose', t, dim1), dimension('transpose', t, dim2))
   return out
end)

define('t', function(t)
   check('t', 'self', t)
   if t.ndim_ ~= 2 then fail('t: got a %s, wanted two dimensions', core.describeSize(t)) end
   local out = tensor(t.kind_)
   lib.transpose(out, t, 0, 1)
   return out
end)

local order = ffi.new('int32_t[?]', C.DPT_MAXDIM)

define('permute', function(t, ...)
   check('permute', 'self', t)
   local n = sizes.read('permute', ...)
   if n ~= t.ndim_ then
      fail('permute: got %d dimensions, wanted %d as in %s', n, t.ndim_, core.describeSize(t))
   end
   for i = 0, n - 1 do order[i] = dimension('permute', t, tonumber(size[i])) end
   local out = tensor(t.kind_)
   lib.permute(out, t, order)
   return out
end)

define('unfold', function(t, dim, n, step)
   check('unfold', 'self', t)
   local out = tensor(t.kind_)
   lib.unfold(out, t, dimension('unfold', t, dim), checkInteger('unfold', 'size', n),
      checkInteger('unfold', 'step', step))
   return out
end)

--- Splits off a leading result: (r, x, ...) or (x, ...); returns r, given or new, and the tensor x.
local function result(fn, t, a, ...)
   check(fn, 'self', t)
   if istype(tensorType, a) then
      if a.kind_ ~= t.kind_ then core.usage(fn, 'a ' .. core.tensorNames[t.kind_], a) end
      return t, a, ...
   end
   return tensor(t.kind_), t, a, ...
end

local function expand(out, t, ...)
   lib.expand(out, t, sizes.read('expand', ...), size)
   return out
end
define('expand', function(...) return expand(result('expand', ...)) end)

define('expandAs', function(t, a, b)
   check('expandAs', 'self', t)
   check('expandAs', 'tensor', a)
   local out, from, like = tensor(t.kind_), t, a
   if b ~= nil then out, from, like = t, a, check('expandAs', 'tensor', b) end
   lib.expand(out, from, like.ndim_, like.size_)
   core.keepAlive(like)
   return out
end)

local function view(out, t, ...)
   lib.view(out, t, sizes.read('view', ...), size)
   return out
end
define('view', function(...) return view(result('view', ...)) end)

define('viewAs', function(t, a, b)
   check('viewAs', 'self', t)
   check('viewAs', 'tensor', a)
   local out, from, like = tensor(t.kind_), t, a
   if b ~= nil then out, from, like = t, a, check('viewAs', 'tensor', b) end
   lib.view(out, from, like.ndim_, like.size_)
   core.keepAlive(like)
   return out
end)

--- Copies the elements to other sizes.
local function reshape(out, t, ...)
   lib.resize(out, sizes.read('reshape', ...), size)
   if C.dpt_count(out) ~= C.dpt_count(t) then
      fail('reshape: got a %s, wanted as many elements as in a %s', core.describeSize(t),
         core.describeSize(out))
   end
   lib.copy(out, t)
   return out
end
define('reshape', function(...) return reshape(result('reshape', ...)) end)

--- Removes the dimensions of size 1, or only dimension dim if its size is 1; returns a number if
-- only one element is left.
define('squeeze', function(t, a, b)
   check('squeeze', 'self', t)
   local out, from, dim = tensor(t.kind_), t, a
   if istype(tensorType, a) then out, from, dim = t, a, b end
   if dim == nil then
      lib.squeeze(out, from)
   else
      lib.squeeze_dim(out, from, dimension('squeeze', from, dim))
   end
   if out.ndim_ == 1 and out.size_[0] == 1 then
      lib.get(out, 0, value)
      return value[0]
   end
   return out
end)

define('unsqueeze', function(t, a, b)
   check('unsqueeze', 'self', t)
   local out, from, dim = tensor(t.kind_), t, a
   if istype(tensorType, a) then out, from, dim = t, a, b end
   dim = checkInteger('unsqueeze', 'dim', dim)
   if dim < 1 or dim > from.ndim_ + 1 then
      fail("unsqueeze: argument 'dim' is %d, wanted 1 to %d as for %s", dim, from.ndim_ + 1,
         core.describeSize(from))
   end
   lib.unsqueeze(out, from, dim - 1)
   return out
end)

--- Returns the tensor itself if it is contiguous, else a contiguous copy.
define('contiguous', function(t)
   check('contiguous', 'self', t)
   if C.dpt_is_contiguous(t) ~= 0 then return t end
   local out = fresh(t.kind_)
   lib.clone(out, t)
   return out
end)

--- Returns a contiguous copy in new memory; a device tensor's is on the current device.
define('clone', function(t)
   check('clone', 'self', t)
   local out = fresh(t.kind_)
   if t.kind_ < core.ON_DEVICE then
      lib.clone(out, t)
   else
      lib.resize_as(out, t)
      lib.copy(out, t)
   end
   return out
end)

--- Returns a list of narrows of size n or less along dim; a leading table is emptied and filled.
define('split', function(...)
   local list, t, n, dim = ...
   if type(list) ~= 'table' then list, t, n, dim = {}, ... end
   check('split', 'self', t)
   n = checkInteger('split', 'size', n)
   if n < 1 then fail("split: argument 'size' is %s, wanted 1 or more", n) end
   dim = dimension('split', t, dim or 1)
   for i = #list, 1, -1 do list[i] = nil end
   local all = tonumber(t.size_[dim])
   for first = 0, all - 1, n do
      local part = tensor(t.kind_)
      lib.narrow(part, t, dim, first, math.min(n, all - first))
      list[#list + 1] = part
   end
   return list
end)

--- Returns a list of at most n parts of equal size; the last one may be smaller.
define('chunk', function(...)
   local list, t, n, dim = ...
   if type(list) ~= 'table' then list, t, n, dim = {}, ... end
   check('chunk', 'self', t)
   n = checkInteger('chunk', 'n', n)
   if n < 1 then fail("chunk: argument 'n' is %s, wanted 1 or more", n) end
   dim = dim or 1
   local all = tonumber(t.size_[dimension('chunk', t, dim)])
   return torch.split(list, t, math.ceil(all / n), dim)
end)

--- Tiles a tensor: at least as many sizes as dimensions.
local function repeatTensor(out, t, ...)
   local n = sizes.read('repeatTensor', ...)
   local extra = n - t.ndim_
   if extra < 0 or t.ndim_ == 0 then
      fail('repeatTensor: got %d numbers, wanted at least %d as for %s', n, t.ndim_,
         core.describeSize(t))
   end
   local times, base = {}, {}
   for d = 1, n do
      times[d] = tonumber(size[d - 1])
      base[d] = d > extra and tonumber(t.size_[d - 1 - extra]) or 1
   end
   for d = 1, n do size[d - 1] = times[d] * base[d] end
   if t.storage_ == out.storage_ then t = t:clone() end -- as the resize would move it
   lib.resize(out, n, size)
   if C.dpt_count(out) == 0 then return out end
   -- Writes the first copy; then, from the last dimension on, copies the filled part along the
   -- dimension: one copy, then two, four ...
   local block, target = tensor(t.kind_), tensor(t.kind_)
   lib.tensor_set(block, out)
   for d = 1, n do lib.narrow(block, block, d - 1, 0, base[d]) end
   lib.copy(block, t)
   for d = n, 1, -1 do
      lib.tensor_set(target, out)
      for e = 1, d - 1 do lib.narrow(target, target, e - 1, 0, base[e]) end
      local there = 1
      while there < times[d] do
         local more, part = math.min(there, times[d] - there), tensor(t.kind_)
         lib.narrow(block, target, d - 1, 0, more * base[d])
         lib.narrow(part, target, d - 1, there * base[d], more * base[d])
         lib.copy(part, block)
         there = there + more
      end
   end
   return out
end
define('repeatTensor', function(...) return repeatTensor(result('repeatTensor', ...)) end)

--- Tags shared by the reference entries of this kind.
-- @pattern viewof
-- @within tensors
-- @param x tensor: of any size and type, on host or device
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Returns a range of a dimension as a view.
-- @function torch.narrow
-- @as viewof
-- @also Tensor:narrow()
-- @param dim number: the dimension, counted from 1
-- @param first number: the first index, counted from 1
-- @param count number: how many indices
-- @return a tensor with the same number of dimensions
-- @usage torch.range(1, 5):narrow(1, 2, 3) --> [2 3 4]

--- Returns one slice, without that dimension, as a view.
-- @function torch.select
-- @as viewof
-- @also Tensor:select()
-- @param dim number: the dimension, counted from 1
-- @param index number: counted from 1
-- @return a tensor with one dimension less; for a vector, an element
-- @usage torch.Tensor{{1, 2}, {3, 4}}:select(1, 2) --> [3 4]

--- Returns ranges of the first dimensions as a view.
-- @function torch.sub
-- @as viewof
-- @also Tensor:sub()
-- @param first number: the first index, counted from 1, or from the end if negative
-- @param last number: the last index; then a pair for each further dimension
-- @param negative: from the end
-- @return a tensor with the same number of dimensions
-- @usage torch.range(1, 5):sub(2, -2) --> [2 3 4]

--- Returns a view of the same memory with other sizes.
-- @function torch.view
-- @as viewof
-- @also Tensor:view()
-- @param sizes number: or a LongStorage
-- @param one may be -1
-- @return a tensor of these sizes
-- @usage torch.range(1, 6):view(2, -1):size() --> 2x3

--- Returns a view of the same memory with another tensor's sizes.
-- @function torch.viewAs
-- @as viewof
-- @also Tensor:viewAs()
-- @param y tensor: gives the sizes
-- @return a tensor of y's sizes
-- @usage torch.range(1, 4):viewAs(torch.ones(2, 2)):size() --> 2x2

--- Copies the elements to a tensor of other sizes.
-- @function torch.reshape
-- @as viewof
-- @also Tensor:reshape()
-- @param sizes number: or a LongStorage
-- @return a tensor of these sizes
-- @usage torch.reshape(torch.ones(2, 3), 6):size() --> 6

--- Returns the transpose of a matrix as a view.
-- @function torch.t
-- @as viewof
-- @also Tensor:t()
-- @return a matrix
-- @usage torch.Tensor{{1, 2}, {3, 4}}:t() --> [1 3 2 4]

--- Swaps two dimensions; returns a view.
-- @function torch.transpose
-- @as viewof
-- @also Tensor:transpose()
-- @param dim1 number: a dimension, counted from 1
-- @param dim2 number: the other dimension
-- @return a tensor with the same number of dimensions
-- @usage torch.ones(2, 3, 4):transpose(1, 3):size() --> 4x3x2

--- Permutes the dimensions; returns a view.
-- @function torch.permute
-- @as viewof
-- @also Tensor:permute()
-- @param dims number: all dimensions in their new order
-- @return a tensor with the same number of dimensions
-- @usage torch.ones(2, 3, 4):permute(2, 3, 1):size() --> 3x4x2

--- Removes the dimensions of size 1; returns a view.
-- @function torch.squeeze
-- @as viewof
-- @also Tensor:squeeze()
-- @param dim? number: remove only this one
-- @return a tensor; a number if there is only one element
-- @usage torch.ones(2, 1, 3):squeeze():size() --> 2x3

--- Inserts a dimension of size 1; returns a view.
-- @function torch.unsqueeze
-- @as viewof
-- @also Tensor:unsqueeze()
-- @param dim number: the position of the new dimension
-- @return a tensor with one more dimension
-- @usage torch.ones(2, 3):unsqueeze(2):size() --> 2x1x3

--- Returns all windows along a dimension, in a new last dimension, as a view.
-- @function torch.unfold
-- @as viewof
-- @also Tensor:unfold()
-- @param dim number: the dimension, counted from 1
-- @param size number: the size of a window
-- @param step number: the distance between windows
-- @return a tensor with one more dimension, of the size of a window
-- @usage torch.range(1, 4):unfold(1, 2, 1) --> [1 2 2 3 3 4]

--- Expands dimensions of size 1 without copying.
-- @function torch.expand
-- @as viewof
-- @also Tensor:expand()
-- @param sizes number: or a LongStorage
-- @return a tensor of these sizes, with stride 0 in expanded dimensions
-- @usage torch.Tensor{{1}, {2}}:expand(2, 2) --> [1 1 2 2]

--- Expands dimensions of size 1 to another tensor's sizes without copying.
-- @function torch.expandAs
-- @as viewof
-- @also Tensor:expandAs()
-- @param y tensor: gives the sizes
-- @return a tensor of y's sizes, with stride 0 in expanded dimensions
-- @usage torch.Tensor{{1, 2}}:expandAs(torch.ones(2, 2)) --> [1 2 1 2]

--- Tiles a tensor: repeats it along each dimension.
-- @function torch.repeatTensor
-- @as viewof
-- @also Tensor:repeatTensor()
-- @param counts number: or a LongStorage: repetitions along each dimension
-- @return a new tensor of x's sizes times the repetitions
-- @usage torch.repeatTensor(torch.Tensor{1, 2}, 2) --> [1 2 1 2]

--- Splits a tensor along a dimension into views of equal size; the last view may be smaller.
-- @function torch.split
-- @as viewof
-- @also Tensor:split()
-- @param size number: size of a part
-- @param dim? number: 1
-- @return table of tensors in x's memory
-- @usage #torch.split(torch.range(1, 5), 2) --> 3

--- Splits a tensor along a dimension into at most n views.
-- @function torch.chunk
-- @as viewof
-- @also Tensor:chunk()
-- @param n number: number of parts
-- @param dim? number: 1
-- @return table of tensors in x's memory, n at most
-- @usage #torch.chunk(torch.range(1, 6), 3) --> 3

--- Returns the tensor itself if it is contiguous, else a contiguous copy.
-- @function torch.contiguous
-- @as viewof
-- @also Tensor:contiguous()
-- @return a tensor of x's sizes
-- @usage local x = torch.ones(2, 3):t()
--    return x:stride(), x:contiguous():stride() --> 1x3, 2x1

--- Returns a copy in new memory.
-- @function torch.clone
-- @as viewof
-- @also Tensor:clone()
-- @return a tensor of x's type and sizes
-- @usage torch.Tensor{4, 5}:clone() --> [4 5]

--- Concatenates tensors along a dimension.
-- @function torch.cat
-- @as maketensor
-- @also Tensor:cat()
-- @param tensors table: of tensors; or two tensors
-- @param dim? number: the last
-- @usage torch.cat(torch.Tensor{1}, torch.Tensor{2, 3}) --> [1 2 3]
