--- dpt.tensor.views: other views of the same memory, and the copies that go with them.
--
-- Invariant: dimensions and indices count from 1 here and from 0 in C; the functions that take a
-- result first (torch.view(r, x, ...), r:view(x, ...)) make it a view and return it.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType = ffi.istype, core.tensorType
local torch, both = class.torch, core.both
local tensor, fresh, check, dimension = core.tensor, core.fresh, core.checkTensor, core.dimension
local checkInteger = core.checkInteger
local size = sizes.size

both('narrow', function(t, dim, first, n)
   check('narrow', 'self', t)
   local out = tensor(t.kind_)
   lib.narrow(out, t, dimension('narrow', t, dim), checkInteger('narrow', 'first', first) - 1,
      checkInteger('narrow', 'size', n))
   return out
end)

local value = ffi.new 'double[1]'

--- A slice; of a vector a number.
both('select', function(t, dim, i)
   check('select', 'self', t)
   -- of a vector there is one dimension to choose: Torch7 does not look at dim
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

--- sub(first1, last1 [, first2, last2 ...]): one narrow a dimension; negative: from the end.
both('sub', function(t, ...)
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

both('transpose', function(t, dim1, dim2)
   check('transpose', 'self', t)
   local out = tensor(t.kind_)
   lib.transpose(out, t, dimension('transpose', t, dim1), dimension('transpose', t, dim2))
   return out
end)

both('t', function(t)
   check('t', 'self', t)
   if t.ndim_ ~= 2 then fail('t: got a %s, wanted two dimensions', core.describeSize(t)) end
   local out = tensor(t.kind_)
   lib.transpose(out, t, 0, 1)
   return out
end)

local order = ffi.new('int32_t[?]', C.DPT_MAXDIM)

both('permute', function(t, ...)
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

both('unfold', function(t, dim, n, step)
   check('unfold', 'self', t)
   local out = tensor(t.kind_)
   lib.unfold(out, t, dimension('unfold', t, dim), checkInteger('unfold', 'size', n),
      checkInteger('unfold', 'step', step))
   return out
end)

--- Splits off a leading result: (r, x, ...) or (x, ...); x is then a tensor, r new or given.
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
both('expand', function(...) return expand(result('expand', ...)) end)

both('expandAs', function(t, a, b)
   check('expandAs', 'self', t)
   check('expandAs', 'tensor', a)
   local out, from, like = tensor(t.kind_), t, a
   if b ~= nil then out, from, like = t, a, check('expandAs', 'tensor', b) end
   lib.expand(out, from, like.ndim_, like.size_)
   core.hold(like)
   return out
end)

local function view(out, t, ...)
   lib.view(out, t, sizes.read('view', ...), size)
   return out
end
both('view', function(...) return view(result('view', ...)) end)

both('viewAs', function(t, a, b)
   check('viewAs', 'self', t)
   check('viewAs', 'tensor', a)
   local out, from, like = tensor(t.kind_), t, a
   if b ~= nil then out, from, like = t, a, check('viewAs', 'tensor', b) end
   lib.view(out, from, like.ndim_, like.size_)
   core.hold(like)
   return out
end)

--- A copy with other sizes.
local function reshape(out, t, ...)
   lib.resize(out, sizes.read('reshape', ...), size)
   if C.dpt_count(out) ~= C.dpt_count(t) then
      fail('reshape: got a %s, which has not as many elements as a %s', core.describeSize(t),
         core.describeSize(out))
   end
   lib.copy(out, t)
   return out
end
both('reshape', function(...) return reshape(result('reshape', ...)) end)

--- Without dimensions of size 1, or without dimension dim if its size is 1; if nothing but one
-- element is left, a number.
both('squeeze', function(t, a, b)
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

both('unsqueeze', function(t, a, b)
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

--- Itself if it is contiguous, else a contiguous copy.
both('contiguous', function(t)
   check('contiguous', 'self', t)
   if C.dpt_is_contiguous(t) ~= 0 then return t end
   local out = fresh(t.kind_)
   lib.clone(out, t)
   return out
end)

--- A contiguous copy in fresh memory: a device tensor's is on the current device.
both('clone', function(t)
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

--- A list of narrows of at most n along dim; given a table first, it is emptied and filled.
both('split', function(...)
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

--- A list of at most n parts of equal size, the last one perhaps smaller.
both('chunk', function(...)
   local list, t, n, dim = ...
   if type(list) ~= 'table' then list, t, n, dim = {}, ... end
   check('chunk', 'self', t)
   n = checkInteger('chunk', 'n', n)
   if n < 1 then fail("chunk: argument 'n' is %s, wanted 1 or more", n) end
   dim = dim or 1
   local all = tonumber(t.size_[dimension('chunk', t, dim)])
   return torch.split(list, t, math.ceil(all / n), dim)
end)

--- Copies side by side: as many sizes as dimensions or more.
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
   if t.storage_ == out.storage_ then t = t:clone() end -- which the resize would move
   lib.resize(out, n, size)
   if C.dpt_count(out) == 0 then return out end
   -- the first copy; then, from the last dimension, what is there already is copied along it: one,
   -- then two, four ...
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
both('repeatTensor', function(...) return repeatTensor(result('repeatTensor', ...)) end)

--- Entries of the reference.
-- @pattern viewof
-- @within tensors
-- @param x tensor: of any size and type, on host or device
-- @raise if an argument is of another kind, if sizes do not fit, or if operands are on different
--    sides or devices, at the script's line
-- @follows Torch7's torch

--- A part along a dimension, in the same memory.
-- @function torch.narrow
-- @as viewof
-- @also Tensor:narrow()
-- @param dim number: the dimension, from 1 on
-- @param first number: the first one, from 1 on
-- @param count number: how many
-- @return a tensor of as many dimensions
-- @usage torch.range(1, 5):narrow(1, 2, 3) --> [2 3 4]

--- One slice, without that dimension, in the same memory.
-- @function torch.select
-- @as viewof
-- @also Tensor:select()
-- @param dim number: the dimension, from 1 on
-- @param index number: from 1 on
-- @return a tensor of a dimension less; of a vector: its element
-- @usage torch.Tensor{{1, 2}, {3, 4}}:select(1, 2) --> [3 4]

--- A part along the first dimensions, in the same memory.
-- @function torch.sub
-- @as viewof
-- @also Tensor:sub()
-- @param first number: the first one, from 1 on
-- @param last number: and so on for each dimension
-- @param negative: from the end
-- @return a tensor of as many dimensions
-- @usage torch.range(1, 5):sub(2, -2) --> [2 3 4]

--- The same memory under other sizes.
-- @function torch.view
-- @as viewof
-- @also Tensor:view()
-- @param sizes number: or a LongStorage
-- @param one may be -1
-- @return a tensor of these sizes
-- @usage torch.range(1, 6):view(2, -1):size() --> 2x3

--- The same memory under another tensor's sizes.
-- @function torch.viewAs
-- @as viewof
-- @also Tensor:viewAs()
-- @param y tensor: whose sizes it gets
-- @return a tensor of the other's sizes
-- @usage torch.range(1, 4):viewAs(torch.ones(2, 2)):size() --> 2x2

--- The elements under other sizes: a view, if there is one, else a copy.
-- @function torch.reshape
-- @as viewof
-- @also Tensor:reshape()
-- @param sizes number: or a LongStorage
-- @return a tensor of these sizes
-- @usage torch.reshape(torch.ones(2, 3), 6):size() --> 6

--- A matrix with rows and columns exchanged, in the same memory.
-- @function torch.t
-- @as viewof
-- @also Tensor:t()
-- @return a matrix
-- @usage torch.Tensor{{1, 2}, {3, 4}}:t() --> [1 3 2 4]

--- Two dimensions exchanged, in the same memory.
-- @function torch.transpose
-- @as viewof
-- @also Tensor:transpose()
-- @param dim1 number: a dimension, from 1 on
-- @param dim2 number: the other one
-- @return a tensor of as many dimensions
-- @usage torch.ones(2, 3, 4):transpose(1, 3):size() --> 4x3x2

--- The dimensions in another order, in the same memory.
-- @function torch.permute
-- @as viewof
-- @also Tensor:permute()
-- @param dims number: all dimensions in their new order
-- @return a tensor of as many dimensions
-- @usage torch.ones(2, 3, 4):permute(2, 3, 1):size() --> 3x4x2

--- Without the dimensions of size 1, in the same memory.
-- @function torch.squeeze
-- @as viewof
-- @also Tensor:squeeze()
-- @param dim? number: only this one
-- @return a tensor; of one element alone: a number
-- @usage torch.ones(2, 1, 3):squeeze():size() --> 2x3

--- With a dimension of size 1 more, in the same memory.
-- @function torch.unsqueeze
-- @as viewof
-- @also Tensor:unsqueeze()
-- @param dim number: where it is
-- @return a tensor of a dimension more
-- @usage torch.ones(2, 3):unsqueeze(2):size() --> 2x1x3

--- All windows along a dimension, behind all dimensions, in the same memory.
-- @function torch.unfold
-- @as viewof
-- @also Tensor:unfold()
-- @param dim number: the dimension, from 1 on
-- @param size number: of a window
-- @param step number: from one to the next
-- @return a tensor of a dimension more, which is as large as a window
-- @usage torch.range(1, 4):unfold(1, 2, 1) --> [1 2 2 3 3 4]

--- Dimensions of size 1 repeated without a copy.
-- @function torch.expand
-- @as viewof
-- @also Tensor:expand()
-- @param sizes number: or a LongStorage
-- @return a tensor of these sizes with strides of 0
-- @usage torch.Tensor{{1}, {2}}:expand(2, 2) --> [1 1 2 2]

--- Dimensions of size 1 repeated to another tensor's sizes, without a copy.
-- @function torch.expandAs
-- @as viewof
-- @also Tensor:expandAs()
-- @param y tensor: whose sizes it gets
-- @return a tensor of the other's sizes with strides of 0
-- @usage torch.Tensor{{1, 2}}:expandAs(torch.ones(2, 2)) --> [1 2 1 2]

--- Copies of a tensor beside each other.
-- @function torch.repeatTensor
-- @as viewof
-- @also Tensor:repeatTensor()
-- @param counts number: or a LongStorage: how often along each dimension
-- @return a new tensor: of x's sizes times the repetitions
-- @usage torch.repeatTensor(torch.Tensor{1, 2}, 2) --> [1 2 1 2]

--- A table of parts of one size along a dimension, the last one smaller.
-- @function torch.split
-- @as viewof
-- @also Tensor:split()
-- @param size number: of a part
-- @param dim? number: 1
-- @return table of tensors in x's memory
-- @usage #torch.split(torch.range(1, 5), 2) --> 3

--- A table of n parts along a dimension.
-- @function torch.chunk
-- @as viewof
-- @also Tensor:chunk()
-- @param n number: how many
-- @param dim? number: 1
-- @return table of tensors in x's memory, n at most
-- @usage #torch.chunk(torch.range(1, 6), 3) --> 3

--- The tensor itself if its elements stand without gaps, else a copy.
-- @function torch.contiguous
-- @as viewof
-- @also Tensor:contiguous()
-- @return a tensor of x's sizes
-- @usage local x = torch.ones(2, 3):t()
--    return x:stride(), x:contiguous():stride() --> 1x3, 2x1

--- A copy with memory of its own.
-- @function torch.clone
-- @as viewof
-- @also Tensor:clone()
-- @return a tensor of x's type and sizes
-- @usage torch.Tensor{4, 5}:clone() --> [4 5]

--- Tensors joined along a dimension.
-- @function torch.cat
-- @as maketensor
-- @also Tensor:cat()
-- @param tensors table: of tensors, or two tensors
-- @param dim? number: the last
-- @usage torch.cat(torch.Tensor{1}, torch.Tensor{2, 3}) --> [1 2 3]
