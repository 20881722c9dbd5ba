--- dpt.tensor.storage: torch.FloatStorage and the others: creation, elements, contents.
--
-- Invariant: two Lua objects over one dpt_storage are equal; indices are 1-based. All access to
-- elements goes through a 1-D tensor over the storage, so that devices work, too.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local metatype = require 'dpt.tensor.metatype'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, storageType, storageMethod = ffi.istype, core.storageType, core.storageMethod
local torch = class.torch
local ON_DEVICE, BYTE, CHAR = core.ON_DEVICE, C.DPT_U8, C.DPT_I8

local checkInteger = core.checkInteger

local slot = ffi.new 'dpt_storage *[1]'
local count = ffi.new 'int64_t[1]'
local value = ffi.new 'double[1]'

local function length(s) return tonumber(C.dpt_storage_size(s.ptr_)) end

local function check(fn, s)
   if not istype(storageType, s) then
      fail("%s: argument 1 is of type %s, wanted a storage", fn, torch.type(s))
   end
end

--- Returns a 1-D tensor over the whole storage.
local function whole(s)
   local t = core.tensor(s.kind_)
   count[0] = length(s)
   if count[0] > 0 then lib.set_storage(t, s.ptr_, 0, 1, count, nil) end
   core.keepAlive(s)
   return t
end

--- Returns a pointer of the element's C type to a host storage's elements.
local function pointer(s)
   return ffi.cast(core.pointers[s.kind_ % ON_DEVICE], C.dpt_storage_data(s.ptr_))
end

--- Copies a table of numbers (or numeric strings, or 64-bit C integers) into a storage's elements,
-- from the first on: through doubles, or through Long integers, which doubles cannot represent.
local function fillFromTable(s, values, n)
   local by = s.kind_ % ON_DEVICE == core.LONG and core.LONG or core.DOUBLE
   local source = s.kind_ == by and s or core.freshStorage(by, n)
   local data = pointer(source)
   for i = 1, n do
      local v = values[i]
      local number = tonumber(v)
      if not number then
         fail('%s: element %d of the table is of type %s, wanted a number',
            core.storageNames[s.kind_], i, torch.type(v))
      end
      data[i - 1] = type(v) == 'cdata' and v or number
   end
   if source ~= s and n > 0 then lib.copy(whole(s), whole(source)) end
   core.keepAlive(source)
end
core.fillFromTable = fillFromTable

-- Maps a file, or shared memory of that name. A size of 0 is the file's size, as in Torch7.
local function mapped(kind, path, shared, size, memory)
   size = size and checkInteger(core.storageNames[kind], 'size', size) or 0
   slot[0] = nil
   lib.storage_map(slot, kind, path, shared and 1 or 0, shared and memory and 1 or 0,
      size > 0 and size or -1)
   return core.storage(kind, slot[0])
end

-- Wraps n elements at an address: a C pointer, or a number.
local function over(kind, n, address)
   if type(address) == 'number' then address = ffi.cast('intptr_t', address) end
   if type(address) ~= 'cdata' then
      core.usage(core.storageNames[kind], 'a size and a pointer', n, address)
   end
   slot[0] = nil
   lib.storage_over(slot, kind, ffi.cast('void *', address), n)
   return core.storage(kind, slot[0])
end

--- torch.XStorage(), (n), (table), (storage [, offset [, size]]): the last form is a view.
-- (path [, shared [, size [, memory]]]): maps a file's elements, all of them if size is omitted;
-- shared: writes go to the file, which is created or extended; memory: path is the name of
-- shared memory, which is removed with the last reference. (n, pointer): wraps memory that dpt does
-- not own, which must outlive the storage. The last two are host memory and cannot be resized.
function core.newStorage(kind, a, offset, size, memory)
   local name = core.storageNames[kind]
   if a == nil then return core.freshStorage(kind, 0) end
   if type(a) == 'string' and not tonumber(a) then return mapped(kind, a, offset, size, memory) end
   if type(a) == 'table' then
      local s = core.freshStorage(kind, #a)
      fillFromTable(s, a, #a)
      return s
   end
   if istype(storageType, a) then
      if a.kind_ ~= kind then
         fail('%s: got a %s, wanted a %s to view', name, core.storageNames[a.kind_], name)
      end
      offset = offset and checkInteger(name, 'offset', offset) or 1
      local have = length(a)
      size = size and checkInteger(name, 'size', size) or have - offset + 1
      if offset < 1 or size < 0 or offset + size - 1 > have then
         fail('%s: got offset %d and size %d, wanted them within a storage of size %d', name,
            offset, size, have)
      end
      lib.storage_view(slot, a.ptr_, offset - 1, size)
      core.keepAlive(a)
      return core.storage(kind, slot[0])
   end
   local n = checkInteger(name, 'size', a)
   if n < 0 then fail('%s: got size %d, wanted 0 or more', name, n) end
   if offset ~= nil then return over(kind, n, offset) end
   return core.freshStorage(kind, n)
end

local function zeroBased(s, i)
   local n = length(s)
   if i < 1 or i >= n + 1 then
      fail('%s: index %s is out of range, wanted 1 to %d', core.storageNames[s.kind_], i, n)
   end
   return i - i % 1 - 1
end

local function get(s, i)
   local offset = zeroBased(s, i)
   if s.kind_ <= core.LONG then -- some NaN bit patterns are not numbers for Lua
      local v = tonumber(pointer(s)[offset])
      core.keepAlive(s)
      return v
   end
   lib.get(whole(s), offset, value)
   return value[0]
end

local function put(s, key, v)
   local name = core.storageNames[s.kind_]
   lib.put(whole(s), zeroBased(s, core.checkNumber(name, 'index', key)),
      core.checkNumber(name, 'value', v))
   return true
end

local noElement = {string = true, ['nil'] = true, boolean = true, ['function'] = true}

--- Returns an element and true; false if the key is a method's name or not an index.
local function element(s, key)
   local number = type(key) == 'number' and key or type(key) == 'string' and tonumber(key)
   if number then return get(s, number), true end
   if noElement[type(key)] then return false end
   return fail('%s: an index is of type %s, wanted a number', core.storageNames[s.kind_],
      torch.type(key))
end

local hasCustomIndex = false -- true once a script has set its own __index or __newindex in a class

local function index(s, key)
   if hasCustomIndex then return core.storageMethods[s.kind_].__index(s, key) end
   if type(key) == 'number' then return get(s, key) end
   local f = type(key) == 'string' and core.storageMethods[s.kind_][key]
   return f or element(s, key) or nil
end

local function newindex(s, key, v)
   if hasCustomIndex then return core.storageMethods[s.kind_].__newindex(s, key, v) end
   put(s, key, v)
end

local function written(s) return core.storageText(s) end
storageMethod('__eq', function(a, b) return a.ptr_ == b.ptr_ end)
storageMethod('__len', length)
storageMethod('__tostring', written)
metatype(storageType, core.storageMethods,
   {__gc = function(s) C.dpt_storage_release(s.ptr_) end, __index = index, __newindex = newindex},
   {__index__ = element, __newindex__ = put, __len__ = length, __tostring__ = written},
   function() hasCustomIndex = true end)

--- Returns the number of elements, as `#` does.
-- @function Storage:size
-- @as storage
-- @return a number
-- @usage torch.FloatStorage(3):size() --> 3
storageMethod('size', function(s)
   check('size', s)
   return length(s)
end)
for kind, methods in pairs(core.storageMethods) do

   --- Returns the bytes per element. Needs no storage: torch.FloatStorage.elementSize().
   -- @function Storage:elementSize
   -- @as storage
   -- @return a number
   -- @usage torch.FloatStorage.elementSize() --> 4
   function methods.elementSize() return core.elementSizes[kind] end
end

--- Resizes the storage; elements that remain keep their values.
-- @function Storage:resize
-- @as storage
-- @param size number: the new number of elements
-- @return the storage
-- @raise if it maps a file, shared memory or a foreign pointer
-- @usage torch.IntStorage{1, 2, 3}:resize(2) --> 1x2
storageMethod('resize', function(s, n)
   check('resize', s)
   lib.storage_resize(s.ptr_, core.checkInteger('resize', 'size', n))
   return s
end)

--- Sets all elements of the storage to a number.
-- @function Storage:fill
-- @as storage
-- @param value number: the new value
-- @return the storage
-- @usage torch.IntStorage(3):fill(7) --> 7x7x7
storageMethod('fill', function(s, v)
   check('fill', s)
   lib.fill(whole(s), core.checkNumber('fill', 'value', v))
   return s
end)

--- Sets all elements of the storage to 0.
-- @function Storage:zero
-- @as storage
-- @return the storage
-- @usage torch.IntStorage(2):zero() --> 0x0
storageMethod('zero', function(s)
   check('zero', s)
   lib.fill(whole(s), 0)
   return s
end)

--- Copies a storage of any type with the same number of elements.
-- @function Storage:copy
-- @as storage
-- @param from storage: of any type, on any device, with as many elements
-- @return the storage
-- @usage torch.IntStorage(2):copy(torch.DoubleStorage{1.5, 2}) --> 1x2
storageMethod('copy', function(s, from)
   check('copy', s)
   if not istype(storageType, from) then core.usage('copy', 'a storage', from) end
   if length(s) ~= length(from) then
      fail('copy: storage has %d elements, wanted %d like the source, a %s', length(s),
         length(from), core.storageNames[from.kind_])
   end
   lib.copy(whole(s), whole(from))
   return s
end)

--- Returns the bytes of a Byte or Char storage as a string; with an argument, stores its bytes.
-- @function Storage:string
-- @as storage
-- @param text? string: bytes to store
-- @return the bytes as a string; with text, the storage
-- @raise if it is not a ByteStorage or CharStorage
-- @usage torch.CharStorage():string('abc'):string() --> abc
storageMethod('string', function(s, text)
   check('string', s)
   local dtype = s.kind_ % ON_DEVICE
   if dtype ~= BYTE and dtype ~= CHAR then
      fail('string: wanted a torch.ByteStorage or torch.CharStorage, got a %s',
         core.storageNames[s.kind_])
   end
   if text ~= nil and type(text) ~= 'string' then core.usage('string', 'a string', text) end
   local host = s
   if s.kind_ >= ON_DEVICE then host = core.newStorage(dtype, text and #text or length(s)) end
   if text == nil then
      if host ~= s then lib.copy(whole(host), whole(s)) end
      local bytes = ffi.string(C.dpt_storage_data(host.ptr_), length(host))
      core.keepAlive(host)
      return bytes
   end
   lib.storage_resize(s.ptr_, #text)
   ffi.copy(C.dpt_storage_data(host.ptr_), text, #text)
   if host ~= s then lib.copy(whole(s), whole(host)) end
   return s
end)

--- Returns the elements as a list of numbers.
-- @function Storage:totable
-- @as storage
-- @return a table
-- @usage torch.IntStorage{4, 5}:totable() --> {4 5}
storageMethod('totable', function(s)
   check('totable', s)
   local result, n = {}, length(s)
   if n == 0 then return result end
   local t, data = core.doubles(whole(s))
   for i = 1, n do result[i] = data[i - 1] end
   core.keepAlive(t)
   return result
end)

--- Returns a pointer to the elements; a device's pointer must not be dereferenced.
-- @function Storage:data
-- @as storage
-- @return cdata: a pointer of the element's C type, valid as long as the storage
-- @usage torch.IntStorage{4, 5}:data()[1] --> 5
storageMethod('data', function(s)
   check('data', s)
   return pointer(s)
end)

--- Returns the C object of the storage, for calls of the C interface.
-- @function Storage:cdata
-- @as storage
-- @return cdata: a pointer to a dpt_storage
-- @usage type(torch.IntStorage(1):cdata()) --> cdata
storageMethod('cdata', function(s)
   check('cdata', s)
   return s.ptr_
end)

--- Does nothing, as dpt counts references itself; for scripts that count them by hand.
-- @function Storage:retain
-- @as storage
-- @also Storage:free()
-- @return the storage
-- @usage torch.IntStorage{3}:retain():free() --> 3
storageMethod('retain free', function(s) return s end)

--- Returns the device of the storage.
-- @function Storage:getDevice
-- @as storage
-- @return a number from 1; 0 for host memory
-- @usage torch.CudaStorage(1):getDevice(), torch.FloatStorage(1):getDevice() --> 1, 0
storageMethod('getDevice', function(s)
   check('getDevice', s)
   return C.dpt_storage_device(s.ptr_)
end)

--- Returns the type's name; with a name, returns the storage converted to that type, or the storage
-- itself if it has that type.
-- @function Storage:type
-- @as storage
-- @param name? string: a storage type, such as 'torch.IntStorage'
-- @return the type's name, or a storage of that type
-- @usage torch.FloatStorage{1.5}:type('torch.IntStorage') --> 1
local function convert(s, name)
   check('type', s)
   if name == nil then return core.storageNames[s.kind_] end
   local kind = core.kinds[name]
   if not kind or core.storageNames[kind] ~= name then
      fail('type: %s is not a storage type', core.quote(name))
   end
   if kind == s.kind_ then return s end
   return core.newStorage(kind, length(s)):copy(s)
end
storageMethod('type', convert)

--- Converts to the type that the method is named after; returns the storage itself if it has that
-- type.
-- @function Storage:float
-- @as storage
-- @also Storage:byte()
-- @also Storage:char()
-- @also Storage:short()
-- @also Storage:int()
-- @also Storage:long()
-- @also Storage:half()
-- @also Storage:bfloat16()
-- @also Storage:double()
-- @also Storage:cuda()
-- @also Storage:cudaByte()
-- @also Storage:cudaChar()
-- @also Storage:cudaShort()
-- @also Storage:cudaInt()
-- @also Storage:cudaLong()
-- @also Storage:cudaHalf()
-- @also Storage:cudaBFloat16()
-- @also Storage:cudaDouble()
-- @return a storage of that type
-- @usage torch.DoubleStorage{1.5, 2}:float():type() --> torch.FloatStorage
core.eachKind(function(kind)
   local name = core.methodNames[kind]
   storageMethod(name, function(s, device)
      local out = convert(s, core.storageNames[kind])
      if kind >= ON_DEVICE and type(device) == 'number' then
         core.ignored('Storage:' .. name, device, C.dpt_tensor_device(whole(out)))
      end
      return out
   end)
end)

core.storageLength, core.storageTensor, core.storagePointer = length, whole, pointer

--- Tags shared by the reference entries of storage methods.
-- @pattern storage
-- @within storages
-- @follows Torch7's torch
-- @raise at the caller's line if an argument has the wrong type, or a size or an index is out of
--    range

--- Returns a new storage of this type; accepts the arguments of the constructor.
-- @function Storage:new
-- @as storage
-- @param size? number: how many elements; or a table of numbers, a storage to view, the path of a
--    file
-- @return the new storage
-- @usage torch.FloatStorage().new(3):fill(2) --> 2x2x2

--- Writes the size and the elements to an open file, as writeObject does.
-- @function Storage:write
-- @as storage
-- @param file torch.File: open for writing
-- @return nothing
-- @usage local f = torch.MemoryFile()
--    torch.IntStorage{7, 8}:write(f)
--    f:seek(1)
--    local s = torch.IntStorage()
--    s:read(f)
--    return s --> 7x8

--- Reads a storage that `write` wrote to a file into this storage.
-- @function Storage:read
-- @as storage
-- @param file torch.File: open for reading
-- @return nothing
-- @usage local f = torch.MemoryFile()
--    torch.FloatStorage{0.5}:write(f)
--    f:seek(1)
--    local s = torch.FloatStorage()
--    s:read(f)
--    return s --> 0.5
