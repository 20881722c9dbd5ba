--- dpt.threads.reader: reads the values from a mail that dpt.threads.writer wrote in another state.
--
-- Invariant: an object is registered before its contents are read, so that they may refer to it;
-- tensors and locks that are read own their references. Bytes are from this process and are
-- trusted.
local hasBuffer, buffer = pcall(require, 'string.buffer')
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local transient = require 'dpt.transient'
local MemoryFile = require('dpt.file').MemoryFile
local codes = require 'dpt.threads.codes'
local cdata = require 'dpt.threads.cdata'
local named = require 'dpt.threads.named'
local objects = require 'dpt.threads.objects'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local tensorType, storageType = core.tensorType, core.storageType

local items, at           -- the list that is being read, and the position in it
local known, count       -- number -> object
local cells, cellCount   -- number -> {function, index of its upvalue}

local readers = {}

local function take()
   at = at + 1
   return items[at]
end

local function get()
   at = at + 1
   local v = items[at]
   if v ~= false then return v end
   at = at + 1
   return readers[items[at]]()
end

local function register(v)
   count = count + 1
   known[count] = v
   return v
end

local function fill(t)
   for i = 1, take() do t[i] = get() end
   local k = get()
   while k ~= nil do
      t[k] = get()
      k = get()
   end
   return t
end

readers[codes.NIL] = function() return nil end
readers[codes.FALSE] = function() return false end
readers[codes.SEEN] = function() return known[take()] end
readers[codes.TABLE] = function() return fill(register{}) end
readers[codes.METHODS] = function() return named.methods(take()) end
readers[codes.CLASS] = function() return named.class(take()) end

readers[codes.OBJECT] = function()
   local object = register(rawget(named.methods(take()), '__factory')())
   transient.unread[object] = true
   transient.clear(fill(object))
   return object
end

readers[codes.CUSTOM] = function()
   local methods, version, bytes = named.methods(take()), take(), take()
   local file = MemoryFile.over(torch.CharStorage():string(bytes), #bytes, 'r'):binary()
   file.readObject = function() return get() end
   local object = register(rawget(methods, '__factory')(file))
   local read = methods.__read or methods.read
   read(object, file, version)
   return object
end

readers[codes.FUNCTION] = function()
   local f = register(assert(loadstring(take())))
   local i, cell = 1, take()
   while cell >= 0 do
      if cell == 0 then
         cellCount = cellCount + 1
         cells[cellCount] = {f, i}
         debug.setupvalue(f, i, (get()))
      else
         debug.upvaluejoin(f, i, cells[cell][1], cells[cell][2])
      end
      i, cell = i + 1, take()
   end
   return f
end

readers[codes.NAMED] = function()
   local module = take()
   return named.get(module, get())
end

readers[codes.TENSOR] = function()
   local t = tensorType()
   ffi.copy(t, take(), ffi.sizeof(tensorType))
   if t.storage_ ~= nil then C.dpt_storage_retain(t.storage_) end
   return register(t)
end

readers[codes.STORAGE] = function()
   local s = storageType()
   ffi.copy(s, take(), ffi.sizeof(storageType))
   C.dpt_storage_retain(s.ptr_)
   return register(s)
end

readers[codes.SHARED] = function()
   local object = objects.type()
   ffi.copy(object, take(), ffi.sizeof(objects.type))
   local shared = object.shared_
   C.dpt_shared_retain(shared) -- for the object
   local ctype = objects.types[C.dpt_shared_kind(shared)]
   if not ctype then return register(object) end
   object.shared_ = nil
   object = ctype()
   object.shared_ = shared
   return register(object)
end

readers[codes.CDATA] = function()
   local name, bytes = take(), take()
   local v = cdata.make(name, bytes)
   if v == nil then fail("threads: the C type '%s' is not declared in this thread", name) end
   return register(v)
end

local decoder = hasBuffer and buffer.new()

local function readAll(mail)
   local list = decoder:set(mail.bytes, mail.size):decode()
   decoder:reset() -- the mail owns the bytes
   items, at, known, count, cells, cellCount = list, 0, {}, 0, {}, 0
   local values, length = {}, take()
   for i = 1, length do values[i] = get() end
   return values, length
end

--- Returns the values in a mail as a list, and their number. Raises if this state cannot create one
-- of them.
return function(mail)
   -- a class's __read may call this while another mail is being read
   local items_, at_, known_, count_, cells_, cellCount_ = items, at, known, count, cells, cellCount
   local ok, values, length = pcall(readAll, mail)
   items, at, known, count, cells, cellCount = items_, at_, known_, count_, cells_, cellCount_
   if not ok then error(values, 0) end
   return values, length
end
