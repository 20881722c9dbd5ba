--- dpt.tensor.create: creates tensors: zeros, ones, ranges, concatenations.
--
-- Invariant: without a result the functions return a new tensor of the default type; the methods
-- resize and fill their own tensor.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local ffi, lib, fail = dptffi.ffi, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType, fresh = ffi.istype, core.tensorType, core.fresh
local define, checkNumber, checkInteger = core.define, core.checkNumber, core.checkInteger
local torch, usage, MAXDIM = class.torch, core.usage, dptffi.C.DPT_MAXDIM

local function isTensor(v) return istype(tensorType, v) end

--- Splits off a leading result: returns it, or a new tensor of the type that the last argument
-- names (else of the default type), and the remaining arguments.
local function result(a, ...)
   if isTensor(a) then return a, ... end
   local n = select('#', ...)
   local kind = core.kindNamed(n == 0 and a or n > 0 and (select(n, ...)))
   if not kind then return fresh(core.default), a, ... end
   local list = {a, ...}
   return fresh(kind), unpack(list, 1, n)
end
core.result = result

--- Defines torch.NAME([r,] ... [, type]) and the method NAME by f(r, ...).
local function creator(name, f)
   define(name, function(...) return f(result(...)) end)
end

local function filled(name, v)
   return function(r, ...)
      lib.resize(r, sizes.read(name, ...), sizes.size)
      lib.fill(r, v)
      return r
   end
end
creator('zeros', filled('zeros', 0))
creator('ones', filled('ones', 1))

--- torch.zerosLike and onesLike([r,] x): of x's type and sizes.
for name, v in pairs{zerosLike = 0, onesLike = 1} do
   define(name, function(a, b)
      local r, x = a, b
      if b == nil then r, x = nil, a end
      if not isTensor(x) or (r and not isTensor(r)) then usage(name, '[result] tensor', a, b) end
      r = r or fresh(x.kind_)
      lib.resize_as(r, x)
      lib.fill(r, v)
      return r
   end)
end

creator('range', function(r, from, to, step)
   lib.range(r, checkNumber('range', 'from', from), checkNumber('range', 'to', to),
      step == nil and 1 or checkNumber('range', 'step', step))
   return r
end)

for _, name in ipairs{'linspace', 'logspace'} do
   creator(name, function(r, from, to, n)
      lib[name](r, checkNumber(name, 'from', from), checkNumber(name, 'to', to),
         n == nil and 100 or checkInteger(name, 'n', n))
      return r
   end)
end

creator('eye', function(r, n, m)
   n = checkInteger('eye', 'n', n)
   m = m == nil and n or checkInteger('eye', 'm', m)
   lib.eye(r, n, m > 0 and m or n) -- as in Torch7
   return r
end)

--- Returns views of the tensors with n dimensions, padded with size 1, but tensors without
-- dimensions unchanged.
local function padded(list, n)
   local views = {}
   for i, t in ipairs(list) do
      views[i] = t
      while views[i].ndim_ > 0 and views[i].ndim_ < n do
         views[i] = views[i]:unsqueeze(views[i].ndim_ + 1)
      end
   end
   return views
end

--- torch.cat([r,] x, y [, dim]), torch.cat([r,] {x, y, ...} [, dim]): concatenates along dim (the
-- last one).
local function cat(...)
   local r, list, dim
   local a, b, c, d = ...
   if type(a) == 'table' then
      list, dim = a, b
   elseif type(b) == 'table' then
      r, list, dim = a, b, c
   elseif isTensor(c) then
      r, list, dim = a, {b, c}, d
   else
      list, dim = {a, b}, c
   end
   if #list == 0 or (r and not isTensor(r)) then
      usage('cat', '[result] (tensor tensor | table of tensors) [dimension]', ...)
   end
   local pointers = ffi.new('const dpt_tensor *[?]', #list)
   local most = 0
   for i = 1, #list do
      local t = list[i]
      if not isTensor(t) then
         fail('cat: tensor %d is of type %s, wanted a tensor', i, torch.type(t))
      end
      most = math.max(most, t.ndim_)
   end
   if dim ~= nil then
      dim = checkInteger('cat', 'dim', dim)
      if dim < 1 or dim > MAXDIM then
         fail("cat: argument 'dim' is %s, wanted 1 to %d", dim, MAXDIM)
      end
      if dim > most + 1 then list = padded(list, dim - 1) end
      if most == 0 then dim = nil end
   end
   for i = 1, #list do pointers[i - 1] = list[i] end
   local out = r
   for _, t in ipairs(list) do -- the result may be one of the operands
      if rawequal(t, r) then out = nil end
   end
   out = out or fresh((r or list[1]).kind_)
   lib.cat(out, #list, pointers, dim ~= nil and dim - 1 or -1) -- a NULL counts as nil
   core.keepAlive(list)
   if r and not rawequal(out, r) then
      lib.resize_as(r, out)
      lib.copy(r, out)
   end
   return r or out
end
define('cat', cat)

--- Tags shared by the reference entries of this kind.
-- @pattern plaintensor
-- @within tensors
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of this kind.
-- @pattern maketensor
-- @within tensors
-- @param result? tensor: output tensor; allocated if omitted
-- @return a tensor, of the default type unless stated otherwise
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Creates a tensor of the default type; torch.FloatTensor, torch.CudaTensor ... create one of
-- their own type.
-- @function torch.Tensor
-- @also torch.ByteTensor
-- @also torch.CharTensor
-- @also torch.ShortTensor
-- @also torch.IntTensor
-- @also torch.LongTensor
-- @also torch.HalfTensor
-- @also torch.BFloat16Tensor
-- @also torch.FloatTensor
-- @also torch.DoubleTensor
-- @also torch.CudaByteTensor
-- @also torch.CudaCharTensor
-- @also torch.CudaShortTensor
-- @also torch.CudaIntTensor
-- @also torch.CudaLongTensor
-- @also torch.CudaHalfTensor
-- @also torch.CudaBFloat16Tensor
-- @also torch.CudaTensor
-- @also torch.CudaDoubleTensor
-- @as plaintensor
-- @param sizes number: one per dimension; or a LongStorage, a table of numbers, a tensor,
--    or a storage with offset, sizes and strides
-- @return a tensor of the default type
-- @usage torch.Tensor{{1, 2}, {3, 4}} --> [1 2 3 4]

--- Returns a tensor of zeros.
-- @function torch.zeros
-- @as maketensor
-- @also Tensor:zeros()
-- @param sizes number: or a LongStorage
-- @usage torch.zeros(2) --> [0 0]

--- Returns a tensor of ones.
-- @function torch.ones
-- @as maketensor
-- @also Tensor:ones()
-- @param sizes number: or a LongStorage
-- @usage torch.ones(2) --> [1 1]

--- Returns a tensor of zeros with the sizes and type of another tensor.
-- @function torch.zerosLike
-- @as maketensor
-- @also Tensor:zerosLike()
-- @param x tensor: gives sizes and type
-- @usage torch.zerosLike(torch.Tensor(2)) --> [0 0]

--- Returns a tensor of ones with the sizes and type of another tensor.
-- @function torch.onesLike
-- @as maketensor
-- @also Tensor:onesLike()
-- @param x tensor: gives sizes and type
-- @usage torch.onesLike(torch.Tensor(2)) --> [1 1]

--- Returns an identity matrix.
-- @function torch.eye
-- @as maketensor
-- @also Tensor:eye()
-- @param n number: rows
-- @param m? number: columns (n)
-- @usage torch.eye(2) --> [1 0 0 1]

--- Returns the numbers from first to last, step apart.
-- @function torch.range
-- @as maketensor
-- @also Tensor:range()
-- @param first number: the first number
-- @param last number: the last number, included if a step reaches it
-- @param step? number: 1
-- @usage torch.range(1, 7, 2) --> [1 3 5 7]

--- Returns evenly spaced numbers from first to last.
-- @function torch.linspace
-- @as maketensor
-- @also Tensor:linspace()
-- @param first number: the first number
-- @param last number: the last number
-- @param n? number: how many (100)
-- @usage torch.linspace(0, 1, 5) --> [0 0.25 0.5 0.75 1]

--- Returns powers of 10 with evenly spaced exponents from first to last.
-- @function torch.logspace
-- @as maketensor
-- @also Tensor:logspace()
-- @param first number: the first exponent
-- @param last number: the last exponent
-- @param n? number: how many (100)
-- @usage torch.logspace(0, 2, 3) --> [1 10 100]
