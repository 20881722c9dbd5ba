--- dpt.file.numbers: torch.File's numbers: readInt, writeFloat and the like.
--
-- Invariant: in binary, elements are transferred as one block. In ascii, numbers are text; Byte and
-- Char are raw bytes; with automatic spacing, a space separates the elements of one write, and a
-- newline follows them, which a read consumes. Memory is allocated only for data that the file has.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local File = require 'dpt.file.File'
local text = require 'dpt.file.text'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local type = dptffi.type

--- Reverses the bytes of each of n elements.
local function swap(pointer, n, size)
   local bytes = ffi.cast('uint8_t *', pointer)
   for start = 0, (n - 1) * size, size do
      for i = 0, size / 2 - 1 do
         local a, b = start + i, start + size - 1 - i
         bytes[a], bytes[b] = bytes[b], bytes[a]
      end
   end
end

--- Returns the bytes per element in this file; for text, a lower bound.
function File:_elementSize(kind)
   if not self.binary_ then return 1 end
   return kind == C.DPT_I64 and self.long_ or core.elementSizes[kind]
end

function File:_writeBlock(kind, pointer, n)
   self:_usable 'write'
   if n == 0 then return end
   local raw = self.binary_ or kind == C.DPT_U8 or kind == C.DPT_I8
   if not raw then
      text.write(self, kind, pointer, n)
   else
      local size = self:_elementSize(kind)
      local keep = pointer
      if size == 4 and kind == C.DPT_I64 then
         keep = ffi.new('int32_t[?]', n)
         for i = 0, n - 1 do
            keep[i] = pointer[i]
            if keep[i] ~= pointer[i] then
               fail('%s: %s does not fit in a Long of 4 bytes (longSize)', self.caller_,
                  tostring(pointer[i]):sub(1, -3))
            end
         end
      elseif self.swap_ and size > 1 then
         keep = ffi.new('uint8_t[?]', n * size)
         ffi.copy(keep, pointer, n * size)
      end
      if self.swap_ and size > 1 then swap(keep, n, size) end
      self:_write(keep, n * size)
      core.keepAlive(keep)
   end
   if not self.binary_ and self.spacing_ then self:_write('\n', 1) end
end

--- Raises, or records on a quiet file, that too little data was read.
local function short(self, format, ...)
   local left = self:_remaining()
   local last = left and self:_position() + left
   if last == 0 then return self:_fail 'is empty' end
   if left and left > 0 and not self.binary_ then
      return self:_fail('has no number at byte %.0f: ' .. format, last - left + 1, ...)
   end
   if not last then return self:_fail('ends early: ' .. format, ...) end
   self:_fail('ends early at byte %.0f: ' .. format, last, ...)
end

--- Reads n elements to pointer; returns the number of elements read.
function File:_readBlock(kind, pointer, n)
   self:_usable 'read'
   if n == 0 then return 0 end
   local raw = self.binary_ or kind == C.DPT_U8 or kind == C.DPT_I8
   local got
   if not raw then
      got = self:_readText(kind, pointer, n)
   else
      local size = self:_elementSize(kind)
      local narrow = size == 4 and kind == C.DPT_I64
      local to = narrow and ffi.new('int32_t[?]', n) or pointer
      got = self:_read(to, n * size)
      got = (got - got % size) / size
      if self.swap_ and size > 1 then swap(to, got, size) end
      if narrow then
         for i = 0, got - 1 do pointer[i] = to[i] end
      end
   end
   if not self.binary_ and self.spacing_ then
      local byte = self:_byte()
      if byte ~= 10 then self:_unread(byte) end
   end
   if got < n then short(self, 'read %d elements, wanted %d', got, n) end
   return got
end

--- Returns how many of n elements to allocate at once: all, if they are few or the file is known to
-- have them. If it does not have them, it raises; a quiet file is read as far as possible.
function File:_capacity(kind, n)
   local size = self:_elementSize(kind)
   if n * size <= 4096 then return n end
   local left = self:_remaining()
   if not left then return math.min(n, 2 ^ 20) end
   if n * size <= left then return n end
   short(self, '%.0f bytes are left, wanted %.0f for %.0f elements', left, n * size, n)
   return math.floor(left / size)
end

--- Reads a new host storage of n elements. Memory is allocated only for data that the file has.
function File:_readStorage(kind, n)
   self:_usable 'read'
   if not (n >= 0 and n < 2 ^ 53) then
      self:_damaged('a size is %.17g, wanted 0 or more', n)
   end
   n = math.floor(n)
   local capacity, got = self:_capacity(kind, n), 0
   local storage = core.freshStorage(kind, capacity)
   while capacity > got do
      got = got + self:_readBlock(kind, core.storagePointer(storage) + got, capacity - got)
      if got < capacity or got == n then break end
      capacity = math.min(n, 2 * got)
      dptffi.lib.storage_resize(storage.ptr_, capacity)
   end
   dptffi.lib.storage_resize(storage.ptr_, got)
   return storage
end

--- Functions that read a number from memory, by kind: some NaN bit patterns are not valid as Lua
-- numbers.
local plain = {
   [C.DPT_F32] = function(one)
      return bit.band(ffi.cast('int32_t *', one)[0], 0x7fffffff) > 0x7f800000 and 0 / 0 or one[0]
   end,
   [C.DPT_F64] = function(one)
      C.dpt_plain(one, 1, one)
      return one[0]
   end,
}

for kind, element in pairs(core.elements) do
   local name = element.name
   -- a reduced type has no C type for a single number: it is transferred as a storage
   local one = not element.isReduced and ffi.new(element.ctype .. '[1]')
   local storageName, number = core.storageNames[kind], plain[kind]

   --- Reads numbers of the type in the method's name, as bytes or as text.
   -- @function torch.File:readInt
   -- @as file
   -- @also torch.File:readByte()
   -- @also torch.File:readChar()
   -- @also torch.File:readShort()
   -- @also torch.File:readLong()
   -- @also torch.File:readHalf()
   -- @also torch.File:readBFloat16()
   -- @also torch.File:readFloat()
   -- @also torch.File:readDouble()
   -- @param what? number: how many; or a storage of that type, which is filled
   -- @return a number; a storage of that many; or how many were read into the storage
   -- @usage local f = torch.MemoryFile()
   --    f:writeFloat{1, 2.5}
   --    f:seek(1)
   --    return f:readFloat(2) --> 1x2.5
   File['read' .. name] = function(self, what)
      if what == nil and not one then
         local storage = core.newStorage(kind, {0})
         self['read' .. name](self, storage)
         return storage[1]
      elseif what == nil then
         one[0] = 0
         self:_readBlock(kind, one, 1)
         if number then return number(one) end
         return tonumber(one[0])
      end
      if core.isStorage(what) and what.kind_ == kind then
         local got = self:_readBlock(kind, core.storagePointer(what), core.storageLength(what))
         core.keepAlive(what)
         return got
      end
      if type(what) ~= 'number' then
         core.usage('read' .. name, 'nothing, a count or a ' .. storageName, what)
      end
      return self:_readStorage(kind, what)
   end

   --- Writes numbers of the type in the method's name, as bytes or as text.
   -- @function torch.File:writeInt
   -- @as file
   -- @also torch.File:writeByte()
   -- @also torch.File:writeChar()
   -- @also torch.File:writeShort()
   -- @also torch.File:writeLong()
   -- @also torch.File:writeHalf()
   -- @also torch.File:writeBFloat16()
   -- @also torch.File:writeFloat()
   -- @also torch.File:writeDouble()
   -- @param what number: or a table of numbers, or a storage of that type
   -- @return how many were written
   -- @usage torch.MemoryFile():writeLong{1, 2, 3} --> 3
   File['write' .. name] = function(self, what)
      if type(what) == 'string' then what = tonumber(what) or what end
      local isNumber = type(what) == 'number' or type(what) == 'cdata' and tonumber(what)
      if isNumber and not one then
         what = {tonumber(what)}
      elseif isNumber then
         one[0] = what
         self:_writeBlock(kind, one, 1)
         return 1
      end
      if type(what) == 'table' then what = core.newStorage(kind, what) end
      if not core.isStorage(what) or what.kind_ ~= kind then
         core.usage('write' .. name, 'a number, a table or a ' .. storageName, what)
      end
      local n = core.storageLength(what)
      self:_writeBlock(kind, core.storagePointer(what), n)
      core.keepAlive(what)
      return n
   end
end

--- Reads a boolean that writeBool wrote.
-- @function torch.File:readBool
-- @as file
-- @return a boolean
-- @usage local f = torch.MemoryFile()
--    f:writeBool(true)
--    f:writeBool(false)
--    f:seek(1)
--    return f:readBool(), f:readBool() --> true, false
function File:readBool() return self:readInt() == 1 end

--- Writes a boolean as an int, 1 or 0.
-- @function torch.File:writeBool
-- @as file
-- @param value boolean: the value
-- @return 1
-- @usage local f = torch.MemoryFile()
--    f:writeBool(false)
--    f:seek(1)
--    return f:readInt() --> 0
function File:writeBool(value) return self:writeInt(value and 1 or 0) end
