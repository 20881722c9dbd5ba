--- dpt.clone: copies a tree of Lua values deeply.
--
-- Invariant: values shared inside the tree are shared in the copy: a table that occurs twice is
-- copied once, tensors over one storage become views of one new storage with the same sizes,
-- strides and offsets. Objects keep their class and lose their transient fields; functions and
-- foreign cdata are shared with the original. Device memory of the copy is on the current device. A
-- class with its own methods write and read, for files, is copied through them. A class with a
-- method __clone(plain) copies its objects itself; plain() returns the copy that would be made
-- without the method.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local core = require 'dpt.tensor.core'
local deep = require 'dpt.deep'
local transient = require 'dpt.transient'
local lib, ffi = dptffi.lib, dptffi.ffi
local type = dptffi.type

--- Returns the address of a storage as a table key.
local function key(pointer) return tonumber(ffi.cast('intptr_t', pointer)) end

local copyValue

local function copyStorage(s, seen)
   local address = key(s.ptr_)
   local copy = seen[address]
   if not copy then
      copy = core.newStorage(s.kind_, core.storageLength(s)):copy(s)
      seen[address] = copy
   end
   return copy
end

local function copyTensor(t, seen)
   local copy = core.tensor(t.kind_)
   local storage = core.storageOf(t) -- nil: only sizes
   storage = storage and copyStorage(storage, seen)
   lib.set_storage(copy, storage and storage.ptr_, t.offset_, t.ndim_, t.size_, t.stride_)
   core.keepAlive(storage, t)
   return copy
end

-- Replaces a file while a class's own methods write and read run: written values are copied, and
-- are read back in the same order.
local Tape = {}

local function put(tape, v) tape[#tape + 1] = copyValue(v, tape.seen) end
local function take(tape) return table.remove(tape, 1) end

-- Implements writeInt, readString and similar methods.
function Tape.__index(_, name)
   return Tape[name] or name:find('^write%u') and put or name:find('^read%u') and take or nil
end
function Tape:writeFields(object) put(self, transient.persistentFields(object)) end
function Tape:readFields(object)
   for name, value in next, take(self) do object[name] = value end
   transient.clear(object)
end
function Tape.isWritableObject() return true end

-- Returns the class's own methods for files, if it has both.
local function ownMethods(v)
   if not torch.typename(v) then return end
   local write, read = v.__write or v.write, v.__read or v.read
   if write and read and not (transient.plain[write] and transient.plain[read]) then
      return write, read
   end
end

local function copyWritten(v, seen, write, read)
   local copy, tape = setmetatable({}, debug.getmetatable(v)), setmetatable({seen = seen}, Tape)
   seen[v] = copy
   write(v, tape)
   read(copy, tape, debug.getmetatable(v).__version)
   return copy
end

local function copyTable(v, seen)
   local copy, skip = {}, transient.fieldsOf(v)
   seen[v] = copy
   for k, value in next, v do
      if not skip[k] then rawset(copy, copyValue(k, seen), copyValue(value, seen)) end
   end
   setmetatable(copy, debug.getmetatable(v))
   transient.clear(copy)
   return copy
end

function copyValue(v, seen)
   local kind = type(v)
   if kind ~= 'table' and kind ~= 'cdata' then return v end
   local copy = seen[v]
   if copy ~= nil then return copy end
   if kind == 'table' then
      local own = torch.typename(v) and v.__clone
      local write, read = ownMethods(v)
      seen.level = seen.level + 1
      if own then
         copy = own(v, function() return copyTable(v, seen) end)
      elseif write then
         copy = deep(seen.level, copyWritten, v, seen, write, read)
      else
         copy = deep(seen.level, copyTable, v, seen)
      end
      seen.level = seen.level - 1
      seen[v] = copy
      return copy
   end
   if core.isTensor(v) then
      copy = copyTensor(v, seen)
   elseif core.isStorage(v) then
      copy = copyStorage(v, seen)
   else
      copy = v
   end
   seen[v] = copy
   return copy
end

--- clone(value, seen): returns a deep copy.
-- @param seen state of a copy: copies by originals and, for storages, by addresses, and level = the
--    number of enclosing tables; a caller may enter values that are shared with the copy
return function(v, seen) return copyValue(v, seen or {level = 0}) end
