--- dpt.file.object: writeObject and readObject: trees of Lua values in Torch7's format.
--
-- Invariant: the type numbers below are Torch7's. A value that occurs twice is written once and
-- then referenced by its index; an object is registered before its contents are read, so that they
-- may refer to it. Data that is read is not trusted: sizes are checked against the file's size,
-- indices against the objects that they name; nesting is limited; functions are loaded only if the
-- file allows it. An object of a class with a method __saved() is written as the result of that
-- method, another object.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local deep = require 'dpt.deep'
local core = require 'dpt.tensor.core'
local transient = require 'dpt.transient'
local File = require 'dpt.file.File'
local foreign = require 'dpt.file.foreign'
local functions = require 'dpt.file.functions'
local tensors = require 'dpt.file.tensors'
local way = require 'dpt.file.way'
local ffi, C, fail, torch = dptffi.ffi, dptffi.C, dptffi.fail, class.torch
local type = dptffi.type

local NIL, NUMBER, STRING, TABLE, OBJECT, BOOLEAN = 0, 1, 2, 3, 4, 5
-- functions: without an index; with one; with one and the names of upvalues
local FUNCTION, PLAIN_FUNCTION, NAMED_FUNCTION = 6, 7, 8
local DEEPEST = 50000
-- types whose values are written each time they occur
local TOLD = {['nil'] = true, number = true, string = true, boolean = true}

--- Returns the number of the value's type in a file; nil if it cannot be written.
-- @function torch.File:isWritableObject
-- @as file
-- @param value any: the value to test
-- @return a number; nil if it cannot be written
-- @usage torch.MemoryFile():isWritableObject 'text', torch.MemoryFile()
--       :isWritableObject(print) == nil --> 2, true
function File:isWritableObject(value)
   local kind = type(value)
   if kind == 'nil' then return NIL end
   if kind == 'number' then return NUMBER end
   if kind == 'string' then return STRING end
   if kind == 'boolean' then return BOOLEAN end
   if class.methodsOf(value) then return OBJECT end
   if kind == 'table' then return TABLE end
   if kind == 'function' and pcall(string.dump, value) then
      local kept = functions.omittedUpvalues(value)
      return kept and not kept.named and PLAIN_FUNCTION or NAMED_FUNCTION
   end
end

local function tooDeep(file)
   fail('%s: objects are nested too deeply, %d levels or more', file.caller_, file.depth_)
end

-- Calls f(file, ...) one level deeper.
local function deeper(file, f, ...)
   file.depth_ = file.depth_ + 1
   if file.depth_ > DEEPEST then tooDeep(file) end
   local result = deep(file.depth_, f, file, ...)
   file.depth_ = file.depth_ - 1
   return result
end

--- Calls f(file, value) for an outermost object: an error leaves the file ready for another object.
local function guarded(f, file, value)
   if file.depth_ > 0 then return f(file, value) end
   local ok, result = pcall(f, file, value)
   if not ok and type(result) == 'string' and result:find('stack overflow', 1, true) then
      result = select(2, pcall(tooDeep, file))
   end
   file.depth_ = 0
   if ok then return result end
   file.error_ = true
   if not file.quiet_ then error(result, 0) end
end

-- writing ----------------------------------------------------------------------------------------

local function writeString(file, bytes)
   file:writeInt(#bytes)
   file:_writeBlock(C.DPT_I8, bytes, #bytes)
end

local writeValue

local function writeTable(file, value)
   local n, path, depth = 0, file.path_, file.depth_
   for _ in next, value do n = n + 1 end
   file:writeInt(n)
   for k, v in next, value do
      path[depth] = (type(k) == 'string' or type(k) == 'number') and k or torch.type(k)
      writeValue(file, k)
      writeValue(file, v)
   end
end

local function writeFunction(file, f)
   local bytes, upvalues = functions.parts(file, f)
   file.path_[file.depth_] = upvalues
   writeString(file, bytes)
   writeValue(file, upvalues)
end

--- Set of the methods `write` and `read` that implement the default format, such as
-- nn.Module.write. The methods of a script's class may call them.
-- @field torch.File.plain
-- @as file
-- @return a table
-- @usage torch.File.plain[nn.Module.write], torch.File.plain[torch.Generator.write] --> true, nil
File.plain = transient.plain

--- Writes an object's fields as one table, except transient ones; fields that cannot be written are
-- omitted and reported on stderr.
-- @function torch.File:writeFields
-- @as file
-- @param object table: an object of a class, whose method write calls this
-- @return nothing
-- @usage local f = torch.MemoryFile()
--    f:writeFields(nn.MulConstant(3))
--    f:seek(1)
--    return f:readObject().constant_scalar --> 3
function File:writeFields(object)
   local fields = {}
   for k, v in next, transient.persistentFields(object) do
      if self:isWritableObject(v) then
         fields[k] = v
      else
         io.stderr:write(('dpt: the field %s of a %s is a %s and was not written\n'):format(
            tostring(k), torch.type(object), type(v)))
      end
   end
   self:writeObject(fields)
end

local function writeInside(file, value)
   local methods = class.methodsOf(value)
   writeString(file, 'V ' .. methods.__version)
   writeString(file, methods.__typename)
   local write = methods.__write or methods.write
   file.path_[file.depth_] = false
   if type(value) == 'cdata' and core.kinds[methods.__typename] then
      tensors.write(file, value)
   elseif write then
      write(value, file)
   elseif type(value) == 'table' then
      file:writeFields(value)
   else
      fail('writeObject: a %s cannot be written%s', methods.__typename, way(file))
   end
end

-- Returns what is written for an object: the result of __saved(), repeatedly, or the object itself.
-- An object that occurs twice is converted once.
local function savedForm(file, object)
   local saved = class.methodsOf(object).__saved
   if not saved then return object end
   file.saved_ = not file.force_ and file.saved_ or {}
   local known = file.saved_[object]
   if known == nil then
      known = saved(object)
      if torch.typename(known) then known = savedForm(file, known) end
      file.saved_[object] = known
   end
   return known
end

function writeValue(file, original)
   local hook, value = file.hook_, original
   if hook then value = hook(original) end
   local id = file:isWritableObject(value)
   local saved = value
   if id == OBJECT then saved = savedForm(file, value) end -- may be nil
   if not rawequal(saved, value) then
      value, original, id = saved, saved, file:isWritableObject(saved)
   end
   if not id then
      fail('writeObject: a value of type %s%s cannot be written', torch.type(value), way(file))
   end
   file:writeInt(id)
   if id == NIL then return end
   if id == NUMBER then return file:writeDouble(value) end
   if id == BOOLEAN then return file:writeBool(value) end
   if id == STRING then return writeString(file, value) end
   -- the original value: a hook may return a new object each time
   local known = TOLD[type(original)] and value or original
   local key = tensors.key(known)
   local index = not file.force_ and file.written_[key]
   if index then return file:writeInt(index) end
   index = file.count_ + 1
   file.count_ = index
   if not file.force_ then
      file.written_[key] = index
      file.kept_[index] = known -- so that its address is not reused
   end
   file:writeInt(index)
   deeper(file, id == TABLE and writeTable or id == OBJECT and writeInside or writeFunction, value)
end

-- Writes an outermost object to a device and flushes it, or the part written before an error.
local function writeToDevice(file, value)
   local ok, why = pcall(writeValue, file, value)
   file:synchronize()
   if not ok then error(why, 0) end
end

--- Writes any value; a value already in this file is only referenced, unless referenced(false).
-- @function torch.File:writeObject
-- @as file
-- @param value any: numbers, strings, booleans, tables, objects of classes, functions
-- @param name? string: its name in error messages ('<?>')
-- @param hook? function: receives a value, returns the value to write instead
-- @return the file
-- @usage local f = torch.MemoryFile()
--    f:writeObject{x = 'y'}
--    f:seek(1)
--    return f:readObject() --> {x=y}
function File:writeObject(value, name, hook)
   local outer = self.hook_
   if self.depth_ == 0 then self.root_, outer = name or '<?>', nil end
   self.hook_ = hook or outer
   guarded(self.device_ and self.depth_ == 0 and writeToDevice or writeValue, self, value)
   self.hook_ = outer
   return self
end

-- reading ----------------------------------------------------------------------------------------

local SMALL = 4096
local small = ffi.new('char[?]', SMALL)

local function readString(file)
   local n = file:readInt()
   if n < 0 then file:_damaged('a string has %d bytes, wanted 0 or more', n) end
   if n <= SMALL then
      file:_readBlock(C.DPT_I8, small, n)
      return ffi.string(small, n)
   end
   local storage = file:_readStorage(C.DPT_I8, n)
   local bytes = ffi.string(core.storagePointer(storage), n)
   core.keepAlive(storage)
   return bytes
end

local readValue

--- Registers the value for the index.
local function known(file, index, id, value)
   if index and not file.force_ then
      file.known_[index], file.ids_[index] = value, id
   end
   return value
end

local function readTable(file, index, id)
   local value = known(file, index, id, {})
   local n = file:readInt()
   if n < 0 then file:_damaged('a table has %d entries, wanted 0 or more', n) end
   for _ = 1, n do
      local k = readValue(file)
      if k == nil or k ~= k then file:_damaged 'a key of a table is nil or NaN' end
      value[k] = readValue(file)
   end
   return value
end

local function readFunction(file, index, id)
   functions.check(file)
   local named = id == NAMED_FUNCTION
   local value = known(file, index, id, functions.load(file, readString(file), named))
   functions.join(file, value, readValue(file), named)
   return value
end

--- Sets an object's fields from the table that writeFields wrote.
-- @function torch.File:readFields
-- @as file
-- @param object table: receives the fields
-- @return nothing
-- @usage local f, t = torch.MemoryFile(), {}
--    f:writeObject{a = 5}
--    f:seek(1)
--    f:readFields(t)
--    return t.a --> 5
function File:readFields(object)
   transient.unread[object] = true
   local fields = self:readObject()
   if type(fields) ~= 'table' then
      self:_damaged("the fields of a '%s' are of type %s, wanted a table", torch.type(object),
         torch.type(fields))
   end
   for k, v in next, fields do object[k] = v end
   transient.clear(object)
end

local function readInside(file, index, id)
   local version = readString(file)
   local name
   local number = tonumber(version:match '^V (.*)$')
   if number then
      name = readString(file)
   else
      name, number = version, 0 -- written by a version without version numbers
   end
   if core.kinds[name] then
      return tensors.read(file, name, known, index, id)
   end
   local make = torch.factory(name)
   if not make then
      file:_raise('holds an object whose class %s is unknown: what defines it must be loaded before'
         .. ' the file', core.quote(name))
   end
   local value = known(file, index, id, make(file))
   local methods = torch.getmetatable(name)
   local read = methods.__read or methods.read
   if read then
      read(value, file, number)
   elseif type(value) == 'table' then
      file:readFields(value)
   else
      file:_damaged('a %s cannot be read', name)
   end
   return value
end

function readValue(file)
   local id = file:readInt()
   if id == NIL then return nil end
   if id == NUMBER then return file:readDouble() end
   if id == BOOLEAN then return file:readBool() end
   if id == STRING then return readString(file) end
   if id < NIL or id > NAMED_FUNCTION then
      if file.depth_ > 0 then file:_damaged('unknown type %d of an object', id) end
      file:_raise('is not a .t7 file (unknown type %d), was saved in another mode, or is damaged',
         id)
   end
   local index = id ~= FUNCTION and file:readInt() or nil
   local value
   if index then
      if not file.force_ then value = file.known_[index] end
      if value ~= nil and file.ids_[index] ~= id or index < 1 then
         file:_damaged('the index %d does not name an object of that type', index)
      end
      if value ~= nil then return value end
   end
   return deeper(file, id == TABLE and readTable or id == OBJECT and readInside or readFunction,
      index, id)
end

-- Reads an outermost object; if that fails, reports the file's actual format.
local function readWhole(file)
   file:_usable 'read'
   local start = file:_position()
   local ok, value = pcall(readValue, file)
   if ok then return value end
   local what = foreign(file, start)
   if what then file:_raise('%s', what) end
   error(value, 0)
end

--- Reads a value that writeObject wrote. Functions in a DiskFile or PipeFile are not loaded, unless
-- allowFunctions or DPT_FUNCTIONS=1 enables it: each is replaced by one that raises when called,
-- which a DiskFile or PipeFile writes as the original function.
-- @function torch.File:readObject
-- @as file
-- @return the value
-- @usage local f = torch.MemoryFile()
--    f:writeObject(torch.Tensor{8})
--    f:seek(1)
--    return f:readObject() --> [8]
function File:readObject()
   return guarded(self.depth_ > 0 and readValue or readWhole, self)
end
