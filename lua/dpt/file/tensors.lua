--- dpt.file.tensors: writes and reads tensors and storages.
--
-- Invariant: a storage is transferred as one block, device memory through the host. A tensor that
-- is read never exceeds its storage, whatever the file says. It has the sizes of the tensor that
-- was written, even without elements or a storage.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local C, ffi, lib = dptffi.C, dptffi.ffi, dptffi.lib

local tensors = {}
local LONG = C.DPT_I64

--- Returns the identity of an object while a file is written: the address for storages and for
-- other cdata that refers to memory (core.cdataAddress), else the object.
function tensors.key(value)
   if core.isStorage(value) then return tonumber(ffi.cast('intptr_t', value.ptr_)) end
   return core.cdataAddress(value) or value
end

local function writeStorage(file, s)
   local n = core.storageLength(s)
   file:writeLong(n)
   if s.kind_ >= core.ON_DEVICE then s = core.newStorage(s.kind_ - core.ON_DEVICE, n):copy(s) end
   file:_writeBlock(s.kind_, core.storagePointer(s), n)
   core.keepAlive(s)
end

function tensors.write(file, value)
   if core.isStorage(value) then return writeStorage(file, value) end
   file:writeInt(value.ndim_)
   file:_writeBlock(LONG, value.size_, value.ndim_)
   file:_writeBlock(LONG, value.stride_, value.ndim_)
   file:writeLong(value.offset_ + 1)
   file:writeObject(core.storageOf(value))
   core.keepAlive(value)
end

local function readStorage(file, kind)
   local host = file:_readStorage(kind % core.ON_DEVICE, file:readLong())
   if kind < core.ON_DEVICE then return host end
   return core.newStorage(kind, core.storageLength(host)):copy(host)
end

--- Returns the number of elements that a storage needs for a tensor; nil if sizes or strides are
-- invalid, or there are too many elements to count.
local function extent(n, size, step)
   local last, count = 0, n == 0 and 0 or 1
   for d = 0, n - 1 do
      local length, stride = tonumber(size[d]), tonumber(step[d])
      if length < 0 or stride < 0 then return nil end
      count = count * length
      last = last + (length - 1) * stride
   end
   if count >= 2 ^ 53 or count ~= count then return nil end
   return count == 0 and 0 or last + 1
end

local function readTensor(file, kind, t)
   local name = core.tensorNames[kind]
   local n = file:readInt()
   if n < 0 or n > C.DPT_MAXDIM then
      file:_damaged('a %s has %d dimensions, wanted 0 to %d', name, n, C.DPT_MAXDIM)
   end
   local size, step = ffi.new('int64_t[12]'), ffi.new('int64_t[12]')
   file:_readBlock(LONG, size, n)
   file:_readBlock(LONG, step, n)
   local first, storage = file:readLong() - 1, file:readObject()
   if storage ~= nil and not (core.isStorage(storage) and storage.kind_ == kind) then
      file:_damaged('the storage of a %s is a %s, wanted a %s', name, core.describe(storage),
         core.storageNames[kind])
   end
   local need, have = extent(n, size, step), storage and core.storageLength(storage) or 0
   if not need or first < 0 or need > 0 and first + need > have then
      file:_damaged('the sizes and strides of a %s do not fit its storage of %d elements', name,
         have)
   end
   lib.set_storage(t, storage and storage.ptr_, math.min(first, have), n, size, step)
   core.keepAlive(storage)
end

--- Reads a tensor or storage of the named type; calls known(file, index, id, object) as soon as the
-- object exists.
function tensors.read(file, name, known, index, id)
   local kind = core.kinds[name]
   if core.storageNames[kind] == name then
      return known(file, index, id, readStorage(file, kind))
   end
   local t = known(file, index, id, core.tensor(kind))
   readTensor(file, kind, t)
   return t
end

local function checkFile(fn, file)
   if not torch.isTypeOf(file, 'torch.File') then core.usage(fn, 'a torch.File', file) end
   return file
end

--- x:write(file) and x:read(file): the contents of a tensor or storage, without its class.
local function write(x, file) tensors.write(checkFile('write', file), x) end
core.method('write', write)
core.storageMethod('write', write)
core.method('read', function(t, file)
   readTensor(checkFile('read', file), t.kind_, t)
   return t
end)
core.storageMethod('read', function(s, file)
   local from = readStorage(checkFile('read', file), s.kind_)
   return s:resize(core.storageLength(from)):copy(from)
end)

return tensors
