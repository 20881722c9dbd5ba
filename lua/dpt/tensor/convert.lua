--- dpt.tensor.convert: types, copies between types and devices, Lua tables, element-wise functions.
local dptffi = require 'dpt.ffi'
local report = require 'dpt.report'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType = ffi.istype, core.tensorType
local torch, method, check = class.torch, core.method, core.checkTensor
local DOUBLE = core.DOUBLE

--- r:copy(a): copies elements in row-major order; equal counts, any types, host and devices.
core.define('copy', function(t, a)
   check('copy', 'self', t)
   if not istype(tensorType, a) then core.usage('copy', 'a tensor', a) end
   lib.copy(t, a)
   return t
end)

--- Copies like copy, but page-locked host memory may still be in use when it returns.
core.define('copyAsync', function(t, a)
   check('copyAsync', 'self', t)
   if not istype(tensorType, a) then core.usage('copyAsync', 'a tensor', a) end
   lib.copy_async(t, a)
   return t
end)

--- Returns t if it has that kind, else a copy of that kind.
local function convert(t, kind)
   if t.kind_ == kind then return t end
   local out = core.fresh(kind)
   lib.resize_as(out, t)
   if t.ndim_ > 0 then lib.copy(out, t) end
   return out
end
core.convert = convert

--- Warns that a method ignores its device argument, which PyTorch's users may not expect.
-- @param actual the device of the result
function core.ignored(name, device, actual)
   if device ~= actual then
      report(("%s: argument 'device' is ignored, as in Torch7: got %s, the result is on device"
         .. ' %d (cutorch.setDevice chooses where new tensors are)'):format(name, device, actual),
         name)
   end
end

--- Returns the type's name; with a name, returns t if it has that type, else a copy of that type.
-- torch.Tensor.type(x) without a name accepts any value, and returns nil if it is not an object.
method('type', function(t, name)
   if name == nil then
      if istype(tensorType, t) then return core.tensorNames[t.kind_] end
      return torch.typename(t)
   end
   check('type', 'self', t)
   if name == 'torch.Tensor' then return convert(t, core.default) end
   local kind = core.kinds[name]
   if not kind or core.tensorNames[kind] ~= name then
      fail('type: %s is not a tensor type', core.quote(name))
   end
   return convert(t, kind)
end)

--- Converts to the type of another tensor; returns the tensor itself if it has that type.
-- @function Tensor:typeAs
-- @as tensormethod
-- @param tensor tensor: of the wanted type
-- @return a tensor of the same size
-- @usage torch.Tensor{1.5}:typeAs(torch.IntTensor()):type() --> torch.IntTensor
method('typeAs', function(t, a)
   check('typeAs', 'self', t)
   return convert(t, check('typeAs', 'tensor', a).kind_)
end)

--- Converts to the type that the method is named after, on a device for cuda and its variants;
-- returns the tensor itself if it has that type.
-- @function Tensor:float
-- @as tensormethod
-- @also Tensor:byte()
-- @also Tensor:char()
-- @also Tensor:short()
-- @also Tensor:int()
-- @also Tensor:long()
-- @also Tensor:half()
-- @also Tensor:bfloat16()
-- @also Tensor:double()
-- @also Tensor:cuda()
-- @also Tensor:cudaByte()
-- @also Tensor:cudaChar()
-- @also Tensor:cudaShort()
-- @also Tensor:cudaInt()
-- @also Tensor:cudaLong()
-- @also Tensor:cudaHalf()
-- @also Tensor:cudaBFloat16()
-- @also Tensor:cudaDouble()
-- @return a tensor of that type and of the same size
-- @usage torch.Tensor{1.5, -2}:int():float() --> [1 -2]
core.eachKind(function(kind)
   local name = core.methodNames[kind]
   method(name, function(t, device)
      check(name, 'self', t)
      local out = convert(t, kind)
      if kind >= core.ON_DEVICE and type(device) == 'number' then
         core.ignored('Tensor:' .. name, device, C.dpt_tensor_device(out))
      end
      return out
   end)
end)

--- Converts to the default type, which torch.setdefaulttensortype sets; returns the tensor itself
-- if it has that type.
-- @function Tensor:real
-- @as tensormethod
-- @return a tensor
-- @usage torch.IntTensor{3}:real() / 2 --> [1.5]
method('real', function(t)
   check('real', 'self', t)
   return convert(t, core.default)
end)

-- tables and element-wise functions ---------------------------------------------------------------

local function copyOf(t)
   local out = core.fresh(t.kind_)
   lib.clone(out, t)
   return out
end

--- Returns a contiguous host tensor of doubles with t's elements (t itself if it is one), with NaNs
-- that Lua accepts as numbers, and a pointer to them. It calls no method: scripts may replace them.
local function doubles(t)
   local d = convert(t, DOUBLE)
   if C.dpt_is_contiguous(d) == 0 then d = copyOf(d) end
   local n = C.dpt_count(d)
   local data = ffi.cast('double *', C.dpt_tensor_data(d))
   if C.dpt_plain(data, n, nil) > 0 then
      d = copyOf(d)
      data = ffi.cast('double *', C.dpt_tensor_data(d))
      C.dpt_plain(data, n, data)
   end
   return d, data
end
core.doubles = doubles

local function nest(data, offset, sizes, d)
   local list, n = {}, sizes[d]
   if d == #sizes then
      for i = 1, n do list[i] = data[offset + i - 1] end
      return list, offset + n
   end
   for i = 1, n do list[i], offset = nest(data, offset, sizes, d + 1) end
   return list, offset
end

--- Returns nested tables of numbers; an empty table for an empty tensor.
core.define('totable', function(t)
   if core.isStorage(t) then return t:totable() end
   check('totable', 'self', t)
   if t.ndim_ == 0 then return {} end
   local sizes = {}
   for d = 1, t.ndim_ do sizes[d] = tonumber(t.size_[d - 1]) end
   local host, data = doubles(t)
   local list = nest(data, 0, sizes, 1)
   core.keepAlive(host)
   return list
end)

local mapped

--- Maps a tensor whose positions may alias, so that each element sees the writes before it: slice
-- by slice of the first dimension of size above 1, in row-major order.
local function mappedSlices(fn, t, f, a, b)
   if C.dpt_shared_dimension(t) < 0 then return mapped(fn, t, f, a, b) end
   local d = 1
   while t:size(d) == 1 do d = d + 1 end
   for i = 1, t:size(d) do
      mappedSlices(fn, t:narrow(d, i, 1), f, a and a:narrow(d, i, 1), b and b:narrow(d, i, 1))
   end
end

--- Returns a copy of t with t's strides: positions that alias in t alias in the copy, too.
local function strided(t)
   local span = 1
   for d = 1, t:dim() do span = span + (t:size(d) - 1) * t:stride(d) end
   local all = t.new(t:storage(), t:storageOffset(), torch.LongStorage{span}):clone()
   return t.new(all:storage(), 1, t:size(), t:stride())
end

--- apply(f), map(a, f), map2(a, b, f): sets each element to f(element, of a, of b) in row-major
-- order; leaves it if f returns nil. Works on a copy (of doubles, or of Long integers, which
-- doubles cannot represent) that is written back once at the end; if f raises, the tensor is
-- unchanged.
function mapped(fn, t, f, a, b)
   check(fn, 'self', t)
   if type(f) ~= 'function' then core.usage(fn, 'a function', f) end
   local n = tonumber(C.dpt_count(t))
   for _, other in ipairs{a, b} do
      check(fn, 'tensor', other)
      if tonumber(C.dpt_count(other)) ~= n then
         fail('%s: got a %s, wanted as many elements as in %s', fn, core.describeSize(other),
            core.describeSize(t))
      end
   end
   if n == 0 then return t end
   if t.kind_ < core.ON_DEVICE and C.dpt_shared_dimension(t) >= 0 then
      local places = strided(t)
      mappedSlices(fn, places, f, a and a:reshape(t:size()), b and b:reshape(t:size()))
      lib.copy(t, places)
      return t
   end
   local x = t.kind_ % core.ON_DEVICE == core.LONG and convert(t, core.LONG) or doubles(t)
   if C.dpt_is_contiguous(x) == 0 or x.storage_ == t.storage_ then x = copyOf(x) end
   local px = ffi.cast(core.pointers[x.kind_], C.dpt_tensor_data(x))
   local y, z, py, pz
   if a then y, py = doubles(a) end
   if b then z, pz = doubles(b) end
   for i = 0, n - 1 do
      local element = tonumber(px[i])
      local v
      if pz then
         v = f(element, py[i], pz[i])
      elseif py then
         v = f(element, py[i])
      else
         v = f(element)
      end
      if v ~= nil then
         if type(v) == 'string' then v = tonumber(v) or v end
         if type(v) ~= 'number' then
            fail('%s: the function returned a %s, wanted a number or nil', fn, torch.type(v))
         end
         px[i] = v
      end
   end
   core.keepAlive(y, z)
   lib.copy(t, x)
   return t
end

--- Sets each element to f(element), in row-major order; leaves the element if f returns nil. If f
-- raises, the tensor is unchanged.
-- @function Tensor:apply
-- @as tensormethod
-- @param f function: receives a number, returns a number or nil
-- @return the tensor
-- @usage torch.Tensor{1, 2, 3}:apply(function(x) return x * x end) --> [1 4 9]
method('apply', function(t, f) return mapped('apply', t, f) end)

--- Sets each element to f(element, corresponding element of the other tensor).
-- @function Tensor:map
-- @as tensormethod
-- @param tensor tensor: with as many elements
-- @param f function: receives two numbers, returns a number or nil
-- @return the tensor
-- @usage torch.Tensor{1, 2}:map(torch.Tensor{10, 20}, function(x, y) return x + y end)
--    --> [11 22]
method('map', function(t, a, f)
   return mapped('map', t, f, check('map', 'tensor', a))
end)

--- Sets each element to f(element, corresponding elements of two other tensors).
-- @function Tensor:map2
-- @as tensormethod
-- @param a tensor: with as many elements
-- @param b tensor: with as many elements
-- @param f function: receives three numbers, returns a number or nil
-- @return the tensor
-- @usage torch.Tensor{1}:map2(torch.Tensor{2}, torch.Tensor{3}, function(x, y, z)
--       return x + y * z
--    end) --> [7]
method('map2', function(t, a, b, f)
   return mapped('map2', t, f, check('map2', 'tensor', a), check('map2', 'tensor', b))
end)

-- the default type --------------------------------------------------------------------------------

--- Sets the type of torch.Tensor, torch.Storage and of the results of torch.zeros and the like.
function torch.setdefaulttensortype(name)
   local kind = core.kinds[name]
   if not kind or core.tensorNames[kind] ~= name then
      fail('torch.setdefaulttensortype: %s is no tensor type', core.quote(name))
   end
   core.default = kind
   torch.Tensor = core.tensorConstructors[kind]
   torch.Storage = core.storageConstructors[kind]
end

function torch.getdefaulttensortype() return core.tensorNames[core.default] end

torch.setdefaulttensortype 'torch.DoubleTensor'

--- Tags shared by the reference entries of tensor methods.
-- @pattern tensormethod
-- @within tensors
-- @follows Torch7's torch
-- @raise at the caller's line if an argument has the wrong type or sizes do not match
