--- dpt.tensor.sizes: parses size arguments, "2, 3" or torch.LongStorage{2, 3}, into one C array.
--
-- Invariant: the arrays are scratch memory, valid until the next call of a function here, so they
-- are passed to C at once. Plain numbers are parsed by straight-line code that the compiler can
-- trace.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local type = dptffi.type
local istype, storageType, LONG = ffi.istype, core.storageType, core.LONG

local MAXDIM = C.DPT_MAXDIM
local size = ffi.new('int64_t[?]', MAXDIM)
local step = ffi.new('int64_t[?]', MAXDIM)
local longs = ffi.typeof 'int64_t *'

local sizes = {size = size, step = step}

local function wrong(fn, v)
   return fail('%s: sizes are numbers or one torch.LongStorage, got %s', fn, core.describe(v))
end

local function tooMany(fn, n)
   return fail('%s: a tensor has at most %d dimensions, got %d', fn, MAXDIM, n)
end

--- Copies a LongStorage into an array; returns its count.
local function readStorage(fn, array, s)
   local n = tonumber(C.dpt_storage_size(s.ptr_))
   if n > MAXDIM then tooMany(fn, n) end
   local data = ffi.cast(longs, C.dpt_storage_data(s.ptr_))
   for i = 0, n - 1 do array[i] = data[i] end
   core.keepAlive(s)
   return n
end

local function isLongs(v) return istype(storageType, v) and v.kind_ == LONG end
sizes.isLongs = isLongs

local function put(fn, i, v)
   if type(v) ~= 'number' then
      v = tonumber(v) or wrong(fn, v)
   end
   if not (v >= -2 ^ 53 and v <= 2 ^ 53) then fail('%s: got size %s, wanted an integer', fn, v) end
   size[i] = v
end

--- Reads sizes into sizes.size; returns their count.
function sizes.read(fn, a, b, c, d, e, f, ...)
   if a == nil then
      if b ~= nil then wrong(fn, a) end
      return 0
   end
   if type(a) ~= 'number' and isLongs(a) then
      if b ~= nil then wrong(fn, b) end
      local n = readStorage(fn, size, a)
      return n == 1 and size[0] == 0 and 0 or n
   end
   put(fn, 0, a)
   if b == nil then return size[0] == 0 and 0 or 1 end -- an empty vector has no dimension
   put(fn, 1, b)
   if c == nil then return 2 end
   put(fn, 2, c)
   if d == nil then return 3 end
   put(fn, 3, d)
   if e == nil then return 4 end
   put(fn, 4, e)
   if f == nil then return 5 end
   put(fn, 5, f)
   local more = select('#', ...)
   if more > MAXDIM - 6 then tooMany(fn, more + 6) end
   for i = 1, more do put(fn, 5 + i, (select(i, ...))) end
   return 6 + more
end

--- Reads a LongStorage of strides into sizes.step.
function sizes.readSteps(fn, s, count)
   if not isLongs(s) then wrong(fn, s) end
   if readStorage(fn, step, s) ~= count then
      fail('%s: got %d sizes and %d strides, wanted as many strides as sizes', fn, count,
         tonumber(C.dpt_storage_size(s.ptr_)))
   end
end

--- Parses the arguments after (storage, offset): nothing, LongStorage sizes [, LongStorage
-- strides], or size1, stride1, size2, stride2, ... Returns the count, and true if sizes.step was
-- set.
function sizes.readPairs(fn, a, b, ...)
   if a == nil then return 0, false end
   if isLongs(a) then
      local count = readStorage(fn, size, a)
      if b == nil then return count, false end
      sizes.readSteps(fn, b, count)
      return count, true
   end
   local values = {a, b, ...}
   local count = math.ceil(#values / 2)
   if count > MAXDIM then tooMany(fn, count) end
   for i = 1, count do
      local n, s = values[2 * i - 1], values[2 * i]
      size[i - 1] = core.checkInteger(fn, 'size', n)
      step[i - 1] = s == nil and -1 or core.checkInteger(fn, 'stride', s)
   end
   return count, true
end

return sizes
