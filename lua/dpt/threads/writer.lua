--- dpt.threads.writer: encodes Lua values as mail for another Lua state: bytes, and references.
--
-- Invariant: the bytes are a flat list that LuaJIT's string.buffer encodes. A tensor is encoded
-- as its struct, whatever its size: the mail holds a reference to its storage.
-- A value that occurs twice is written once (tables, functions, tensors, storages, and upvalues
-- that functions share). In the list, numbers, strings and `true` represent themselves; `false` is
-- followed by the code of the value that follows. Globals are not sent, and neither are metatables
-- other than those of classes. Mail is only valid inside the process.
local hasBuffer, buffer = pcall(require, 'string.buffer')
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local transient = require 'dpt.transient'
local plain = require('dpt.file').File.plain
local codes = require 'dpt.threads.codes'
local cdata = require 'dpt.threads.cdata'
local explain = require 'dpt.threads.explain'
local named = require 'dpt.threads.named'
local objects = require 'dpt.threads.objects'
local ffi, C, torch, type = dptffi.ffi, dptffi.C, class.torch, dptffi.type
local istype, getmetatable, next, rawget = ffi.istype, getmetatable, next, rawget
local tensorType, storageType = core.tensorType, core.storageType

local new, SHORT = require 'table.new', 15 -- most jobs have fewer items

local items, n         -- the list that is being written, and its length
local seen, count      -- object -> its number
local cells, cellCount -- upvalue -> its number
local kept             -- cdata whose memory the mail will reference
local copies           -- address of a storage -> its copy; nil: storages are shared

local put

local function add(v)
   n = n + 1
   items[n] = v
end

local function op(code)
   items[n + 1], items[n + 2] = false, code
   n = n + 2
end

local function remember(v)
   count = count + 1
   seen[v] = count
end

local function addBytes(v, size) add(ffi.string(ffi.cast('const char *', v), size)) end

--- Ends writing: v cannot be sent.
local function reject(v) error({rejected = v}, 0) end

--- Writes v by name if it has one; returns true in that case.
local function putNamed(v)
   local module, key = named.find(v)
   if not module then return false end
   op(codes.NAMED)
   add(module)
   put(key)
   return true
end

local function copyStorage(s)
   local function copy() return core.newStorage(s.kind_, core.storageLength(s)):copy(s) end
   if s.kind_ < core.ON_DEVICE or core.storageLength(s) == 0 then return copy() end
   return cutorch.withDevice(C.dpt_storage_device(s.ptr_), copy)
end

--- Returns the storage to send: itself or its copy.
local function outgoing(s)
   if not copies then return s end
   local address = tostring(s.ptr_)
   if not copies[address] then copies[address] = copyStorage(s) end
   return copies[address]
end

local function putTensor(t)
   op(codes.TENSOR)
   if t.storage_ ~= nil then
      if copies then
         local storage = outgoing(core.storageOf(t)) -- may raise, so call it before creating a view
         local view = tensorType()
         ffi.copy(view, t, ffi.sizeof(tensorType))
         view.storage_ = storage.ptr_
         C.dpt_storage_retain(view.storage_)
         t = view
      end
      kept[#kept + 1] = t
   end
   addBytes(t, ffi.sizeof(tensorType))
end

local function putStorage(s)
   op(codes.STORAGE)
   s = outgoing(s)
   kept[#kept + 1] = s
   addBytes(s, ffi.sizeof(storageType))
end

local function putShared(object)
   if object.shared_ == nil then reject(object) end
   op(codes.SHARED)
   kept[#kept + 1] = object
   addBytes(object, ffi.sizeof(objects.type))
end

local function putCdata(v)
   if istype('int64_t', v) or istype('uint64_t', v) then return add(v) end
   remember(v)
   if istype(tensorType, v) then return putTensor(v) end
   if istype(storageType, v) then return putStorage(v) end
   if objects.is(v) then return putShared(v) end
   local name, bytes = cdata.bytes(v)
   if not name then reject(v) end
   op(codes.CDATA)
   add(name)
   add(bytes)
end

local function putFields(t, skip)
   local length = #t
   add(length)
   for i = 1, length do put(t[i]) end
   for k, v in next, t do
      local inList = type(k) == 'number' and k >= 1 and k <= length and k % 1 == 0
      if not inList and not (skip and skip[k]) then
         put(k)
         put(v)
      end
   end
   op(codes.NIL)
end

--- Writes an object that serializes itself: numbers and strings go to a file, objects to the list;
-- both are read in the order of writing.
local function putCustom(object, methods, write)
   op(codes.CUSTOM)
   add(named.sent(methods))
   add(methods.__version)
   add ''
   local slot, file = n, torch.MemoryFile():binary()
   file.writeObject = function(_, v)
      put(v)
      return file
   end
   write(object, file)
   items[slot] = file:storage():string()
end

local function putObject(object, methods)
   remember(object)
   local write, read = methods.__write or methods.write, methods.__read or methods.read
   if write and not (plain[write] and plain[read]) then
      return putCustom(object, methods, write)
   end
   op(codes.OBJECT)
   add(named.sent(methods))
   putFields(object, transient.fieldsOf(object))
end

local function putTable(t)
   local meta = getmetatable(t)
   if meta ~= nil then
      local methods = class.methodsOf(t)
      if methods then return putObject(t, methods) end
   end
   if putNamed(t) then return end
   if meta ~= nil then
      local unknown = named.classTextOf(t)
      local name = unknown or rawget(t, '__typename')
         or type(meta) == 'table' and rawget(meta, '__typename')
      local methods = name and torch.getmetatable(name)
      if unknown or methods == t or methods and torch.getconstructortable(name) == t then
         op(methods == t and codes.METHODS or codes.CLASS)
         return add(unknown or named.sent(methods))
      end
   end
   remember(t)
   op(codes.TABLE)
   putFields(t)
end

local function putUpvalues(f)
   local i = 1
   local name, value = debug.getupvalue(f, i)
   while name do
      local id = debug.upvalueid(f, i)
      local cell = cells[id]
      add(cell or 0)
      if not cell then
         cellCount = cellCount + 1
         cells[id] = cellCount
         put(value)
      end
      i = i + 1
      name, value = debug.getupvalue(f, i)
   end
   add(-1)
end

local function putFunction(f)
   if putNamed(f) then return end
   local ok, bytes = pcall(string.dump, f)
   if not ok then reject(f) end
   remember(f)
   op(codes.FUNCTION)
   add(bytes)
   putUpvalues(f)
end

--- Writes userdata: only plain pointers and, of Lua's files, the standard ones.
local function putUserdata(v)
   if putNamed(v) then return end
   if not pcall(buffer.encode, v) then reject(v) end
   add(v)
end

local writers = {cdata = putCdata, table = putTable, ['function'] = putFunction,
   userdata = putUserdata, thread = reject}

function put(v)
   local kind = type(v)
   if kind == 'number' or kind == 'string' or kind == 'boolean' and v then
      n = n + 1
      items[n] = v
   elseif kind == 'nil' then
      op(codes.NIL)
   elseif kind == 'boolean' then
      op(codes.FALSE)
   else
      local number = seen[v]
      if not number then return writers[kind](v) end
      op(codes.SEEN)
      add(number)
   end
end

local function putAll(...)
   local length = select('#', ...)
   add(length)
   for i = 1, length do put((select(i, ...))) end
end

local function referencesOf(list)
   local length = #list
   if length == 0 then return nil, 0 end
   local references = ffi.new('dpt_reference[?]', length)
   for i = 1, length do
      local v, r = list[i], references[i - 1]
      r.kind = C.DPT_REFERENCE_STORAGE
      if istype(tensorType, v) then
         r.object = v.storage_
      elseif istype(storageType, v) then
         r.object = v.ptr_
      else
         r.object, r.kind = v.shared_, C.DPT_REFERENCE_SHARED
      end
   end
   return references, length
end

local encoder = hasBuffer and buffer.new()

--- Writes values; the caller must make the mail from the results before the next call.
-- @param share true if tensors are shared (else they are copied)
-- @param label function(i): returns the name of the i-th value in an error
-- @return bytes, their size, references, their count; and values that must be held until the mail
-- is made
return function(share, label, ...)
   -- a class's __write may call this while another mail is being written
   local items_, n_, seen_, count_, cells_, cellCount_, kept_, copies_ = items, n, seen, count,
      cells, cellCount, kept, copies
   items, n, seen, count, cells, cellCount, kept = new(SHORT, 0), 0, {}, 0, {}, 0, {}
   copies = not share and {} or nil
   local ok, why = pcall(putAll, ...)
   local list, held = items, kept
   items, n, seen, count, cells, cellCount, kept, copies = items_, n_, seen_, count_, cells_,
      cellCount_, kept_, copies_
   if not ok then dptffi.raise(explain(why, label, ...)) end
   encoder:reset()
   encoder:encode(list)
   local bytes, size = encoder:ref()
   local references, length = referencesOf(held)
   return bytes, size, references, length, held
end
