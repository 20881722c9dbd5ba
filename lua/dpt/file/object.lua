--- dpt.file.object: writeObject and readObject: trees of Lua values in Torch7's format.
--
-- What must stay true: the numbers below are Torch7's. What occurs twice is written once and then
-- named by its index; an object is known before what is inside it is read, so cycles close. What is
-- read is not trusted: sizes are held against what the file has, indices against what they name,
-- nesting is limited; functions are only loaded where the file allows it.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local File = require 'dpt.file.File'
local tensors = require 'dpt.file.tensors'
local ffi, C, fail, torch = dptffi.ffi, dptffi.C, dptffi.fail, class.torch

local NIL, NUMBER, STRING, TABLE, OBJECT, BOOLEAN = 0, 1, 2, 3, 4, 5
-- functions: without an index; with upvalues and their names (7: with an index, without names)
local FUNCTION, NAMED_FUNCTION = 6, 8
local DEEPEST = 500

--- The number of the value's type in a file; nil: it cannot be written.
function File:isWritableObject(value)
   local kind = type(value)
   if kind == 'nil' then return NIL end
   if kind == 'number' then return NUMBER end
   if kind == 'string' then return STRING end
   if kind == 'boolean' then return BOOLEAN end
   if class.methodsOf(value) then return OBJECT end
   if kind == 'table' then return TABLE end
   if kind == 'function' and pcall(string.dump, value) then return NAMED_FUNCTION end
end

local function deeper(file)
   file.depth_ = file.depth_ + 1
   if file.depth_ > DEEPEST then
      fail('%s: objects are nested more than %d deep', file.__typename, DEEPEST)
   end
end

--- Calls f(file, ...) as one object: an error leaves the file ready for another.
local function guarded(f, file, ...)
   if file.depth_ > 0 then return f(file, ...) end
   local ok, result = pcall(f, file, ...)
   file.depth_ = 0
   if ok then return result end
   if not file.quiet_ then error(result, 0) end
   file.error_ = true
end

local function writeString(file, bytes)
   file:writeInt(#bytes)
   file:_writeBlock(C.DPT_I8, bytes, #bytes)
end

local function readString(file)
   local n = file:readInt()
   if n < 0 then fail('%s: a string has %d bytes, wanted 0 or more', file.__typename, n) end
   local storage = file:_readStorage(C.DPT_I8, n)
   local bytes = ffi.string(core.storagePointer(storage), n)
   core.hold(storage)
   return bytes
end

local writeValue, readValue

local function writeTable(file, value)
   local n = 0
   for _ in next, value do n = n + 1 end
   file:writeInt(n)
   for k, v in next, value do
      writeValue(file, k)
      writeValue(file, v)
   end
end

local function writeFunction(file, f)
   local upvalues, i = {}, 1
   local name, value = debug.getupvalue(f, i)
   while name do
      upvalues[i] = {name = name, value = value}
      i = i + 1
      name, value = debug.getupvalue(f, i)
   end
   writeString(file, string.dump(f))
   writeValue(file, upvalues)
end

local function writeInside(file, value)
   local methods = class.methodsOf(value)
   writeString(file, 'V ' .. methods.__version)
   writeString(file, methods.__typename)
   local write = methods.__write or methods.write
   if type(value) == 'cdata' then
      tensors.write(file, value)
   elseif write then
      write(value, file)
   else
      local fields = {}
      for k, v in next, value do
         if file:isWritableObject(v) then
            fields[k] = v
         else
            io.stderr:write(('dpt: the field %s of a %s is a %s and was not written\n'):format(
               tostring(k), methods.__typename, type(v)))
         end
      end
      writeValue(file, fields)
   end
end

function writeValue(file, value)
   local id = file:isWritableObject(value)
   if not id then fail('writeObject: a value of type %s cannot be written', torch.type(value)) end
   file:writeInt(id)
   if id == NIL then return end
   if id == NUMBER then return file:writeDouble(value) end
   if id == BOOLEAN then return file:writeBool(value) end
   if id == STRING then return writeString(file, value) end
   local key = tensors.key(value)
   local entry = not file.force_ and file.written_[key]
   if entry then return file:writeInt(entry[1]) end
   file.count_ = file.count_ + 1
   -- the value is kept: its address must not become another's
   if not file.force_ then file.written_[key] = {file.count_, value} end
   file:writeInt(file.count_)
   deeper(file)
   if id == TABLE then
      writeTable(file, value)
   elseif id == OBJECT then
      writeInside(file, value)
   else
      writeFunction(file, value)
   end
   file.depth_ = file.depth_ - 1
end

--- Writes any value; what this file has already is only named, unless referenced(false).
function File:writeObject(value)
   guarded(writeValue, self, value)
   return self
end

local function readTable(file, known)
   local value = {}
   known(value)
   local n = file:readInt()
   if n < 0 then fail('%s: a table has %d entries, wanted 0 or more', file.__typename, n) end
   for _ = 1, n do
      local k = readValue(file)
      if k == nil or k ~= k then fail('%s: a key of a table is nil or NaN', file.__typename) end
      value[k] = readValue(file)
   end
   return value
end

local function readFunction(file, known, id)
   local how = file.functions_
   if not how then
      fail('%s: the file holds a Lua function, which could do anything: if its origin is trusted,'
         .. " load it with {functions = true}; {functions = 'skip'} leaves functions out",
         file.__typename)
   end
   local bytes = readString(file)
   local value, why
   if how == 'skip' then
      function value() fail("a function was left out when its file was loaded ('skip')") end
   else
      value, why = loadstring(bytes)
      if not value then
         fail('%s: a function in the file is of another build of Lua: %s', file.__typename, why)
      end
   end
   known(value)
   local upvalues = readValue(file)
   if type(upvalues) ~= 'table' then
      fail("%s: a function's upvalues are of type %s, wanted a table", file.__typename,
         torch.type(upvalues))
   end
   if how == 'skip' then return value end
   for i, upvalue in pairs(upvalues) do
      if id == NAMED_FUNCTION then
         local environment = upvalue.name == '_ENV'
         upvalue = environment and getfenv(0) or upvalue.value
      end
      debug.setupvalue(value, i, upvalue)
   end
   return value
end

local function readInside(file, known)
   local version = readString(file)
   local name
   local number = tonumber(version:match '^V (.*)$')
   if number then
      name = readString(file)
   else
      name, number = version, 0 -- written before there were versions
   end
   if core.kinds[name] then return tensors.read(file, name, known) end
   local methods = torch.getmetatable(name)
   local make = methods and methods.__factory or torch.factory(name)
   if not make then fail('%s: class %s is unknown', file.__typename, core.quote(name)) end
   local value = make(file)
   known(value)
   local read = methods.__read or methods.read
   if read then
      read(value, file, number)
   else
      local fields = readValue(file)
      if type(fields) ~= 'table' then
         fail("%s: the fields of a '%s' are of type %s, wanted a table", file.__typename, name,
            torch.type(fields))
      end
      for k, v in next, fields do value[k] = v end
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
      fail('%s: %d is no type of object, the file is no .t7 file, of another mode or damaged',
         file.__typename, id)
   end
   deeper(file)
   local index, value
   local function known(v)
      if index and not file.force_ then file.known_[index] = {v, id} end
   end
   if id == FUNCTION then
      value = readFunction(file, known, id)
   else
      index = file:readInt()
      local entry = not file.force_ and file.known_[index]
      if entry and entry[2] ~= id or index < 1 then
         fail('%s: the index %d does not name an object of that type', file.__typename, index)
      end
      if entry then
         value = entry[1]
      elseif id == TABLE then
         value = readTable(file, known)
      elseif id == OBJECT then
         value = readInside(file, known)
      else
         value = readFunction(file, known, id)
      end
   end
   file.depth_ = file.depth_ - 1
   return value
end

--- Reads what writeObject wrote. No function is loaded from a DiskFile or PipeFile, unless
-- allowFunctions says so.
function File:readObject()
   return guarded(readValue, self)
end
