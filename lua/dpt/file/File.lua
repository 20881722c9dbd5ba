--- dpt.file.File: torch.File, what all files share: flags, numbers and strings.
--
-- What must stay true: this file knows no medium. DiskFile, PipeFile and MemoryFile bring
-- _read(pointer, n) -> bytes read, _write(data, n), _byte() -> the next byte or -1, _unread(byte),
-- _left() -> bytes up to the end or nil, _seek(offset from 0), _length() and _position().
-- In binary, elements move as one block. In ascii, numbers are text; Byte and Char are raw bytes;
-- with automatic spacing a space stands between the elements of one write and a newline behind
-- them, and a read takes that newline away. An error raises, or is only noted on a quiet file.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local text = require 'dpt.file.text'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail

local File = torch.newmetatable('torch.File', nil, function()
   fail('torch.File: wanted torch.DiskFile, torch.PipeFile or torch.MemoryFile')
end, nil, nil, torch)

local NAMES = {Byte = C.DPT_U8, Char = C.DPT_I8, Short = C.DPT_I16, Int = C.DPT_I32,
   Long = C.DPT_I64, Half = C.DPT_F16, Float = C.DPT_F32, Double = C.DPT_F64}
local LITTLE = ffi.abi 'le'

--- The flags of a new file.
function File:_start(mode)
   self.readable_, self.writable_ = mode:find 'r' ~= nil, mode:find 'w' ~= nil
   self.binary_, self.spacing_, self.quiet_, self.error_ = false, true, false, false
   self.swap_, self.long_, self.open_ = false, 8, true
   self.force_, self.written_, self.count_, self.known_, self.depth_ = false, {}, 0, {}, 0
   return self
end

--- Checks the mode that a constructor got.
function File.checkMode(name, mode)
   mode = mode or 'rw'
   if mode ~= 'r' and mode ~= 'w' and mode ~= 'rw' then
      fail("%s: argument 'mode' is %s, wanted 'r', 'w' or 'rw'", name, core.quote(mode))
   end
   return mode
end

--- Raises a sentence, or notes the error on a quiet file; inside an object it always raises.
function File:_fail(format, ...)
   self.error_ = true
   if self.quiet_ and self.depth_ == 0 then return end
   fail('%s: ' .. format, self.__typename, ...)
end

function File:_usable(what)
   if not self.open_ then fail('%s: the file is closed', self.__typename) end
   if what == 'read' and not self.readable_ or what == 'write' and not self.writable_ then
      fail('%s: the file was not opened to %s', self.__typename, what)
   end
end

-- flags ------------------------------------------------------------------------------------------

--- Methods that set a field and return the file.
for name, setting in pairs{binary = {'binary_', true}, ascii = {'binary_', false},
   autoSpacing = {'spacing_', true}, noAutoSpacing = {'spacing_', false},
   quiet = {'quiet_', true}, pedantic = {'quiet_', false}, clearError = {'error_', false},
   nativeEndianEncoding = {'swap_', false}, littleEndianEncoding = {'swap_', not LITTLE},
   bigEndianEncoding = {'swap_', LITTLE}} do
   File[name] = function(self)
      self[setting[1]] = setting[2]
      return self
   end
end
for name, field in pairs{isBinary = 'binary_', isAutoSpacing = 'spacing_', isQuiet = 'quiet_',
   hasError = 'error_', isReadable = 'readable_', isWritable = 'writable_', isOpened = 'open_'} do
   File[name] = function(self) return self[field] end
end
function File.isLittleEndianCPU() return LITTLE end
function File.isBigEndianCPU() return not LITTLE end

--- Bytes of a Long in binary: 4, or 8 (0: this machine's, 8).
function File:longSize(size)
   if size ~= 0 and size ~= 4 and size ~= 8 then
      fail('longSize: got %s, wanted 0, 4 or 8', tostring(size))
   end
   self.long_ = size == 4 and 4 or 8
   return self
end

--- Whether writeObject and readObject keep what is shared (true), as torch.save's argument.
function File:referenced(on)
   self.force_ = not on
   return self
end
function File:isReferenced() return not self.force_ end

--- What readObject does with functions: true: loads them, 'skip': puts a function in their place
-- that raises when called, false: refuses. Bytes from elsewhere must not be loaded as functions.
function File:allowFunctions(how)
   self.functions_ = how
   return self
end

function File:noBuffer() return self end
function File:synchronize() return self end

-- place ------------------------------------------------------------------------------------------

function File:position()
   self:_usable()
   return self:_position() + 1
end

function File:seek(position)
   self:_usable()
   position = core.checkInteger('seek', 'position', position)
   if position < 1 then
      self:_fail('cannot seek to position %d, wanted 1 or more', position)
   else
      self:_seek(position - 1)
   end
   return self
end

function File:seekEnd()
   self:_usable()
   self:_seek(self:_length())
   return self
end

function File:close()
   self:_usable()
   self.open_ = false
   self.written_, self.known_ = {}, {}
   self:_close()
end

-- numbers ----------------------------------------------------------------------------------------

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

--- Bytes of an element in this file; at least, where it is text.
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
         for i = 0, n - 1 do keep[i] = pointer[i] end
      elseif self.swap_ and size > 1 then
         keep = ffi.new('uint8_t[?]', n * size)
         ffi.copy(keep, pointer, n * size)
      end
      if self.swap_ and size > 1 then swap(keep, n, size) end
      self:_write(keep, n * size)
      core.hold(keep)
   end
   if not self.binary_ and self.spacing_ then self:_write('\n', 1) end
end

--- Reads n elements to pointer; how many there were.
function File:_readBlock(kind, pointer, n)
   self:_usable 'read'
   if n == 0 then return 0 end
   local raw = self.binary_ or kind == C.DPT_U8 or kind == C.DPT_I8
   local got
   if not raw then
      got = text.read(self, kind, pointer, n)
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
   if got < n then self:_fail('read %d elements, wanted %d', got, n) end
   return got
end

--- Raises where the file cannot hold n more elements; nil where that is not known.
function File:_checkLeft(kind, n)
   local left = self:_left()
   if not left then return nil end
   local need = n * self:_elementSize(kind)
   if need > left then
      fail('%s: %.0f bytes are left in the file, wanted %.0f for %.0f elements', self.__typename,
         left, need, n)
   end
   return true
end

--- A new host storage of n elements from the file. Memory is only taken for what the file has.
function File:_readStorage(kind, n)
   if not (n >= 0 and n < 2 ^ 53) then
      fail('%s: a size is %.17g, wanted 0 or more', self.__typename, n)
   end
   local step = self:_checkLeft(kind, n) and n or math.min(n, 2 ^ 20)
   local storage, got = core.freshStorage(kind, step), 0
   while true do
      local count = core.storageLength(storage) - got
      got = got + self:_readBlock(kind, core.storagePointer(storage) + got, count)
      if got < core.storageLength(storage) or got == n then break end
      dptffi.lib.storage_resize(storage.ptr_, math.min(n, 2 * got))
   end
   dptffi.lib.storage_resize(storage.ptr_, got)
   return storage
end

for name, kind in pairs(NAMES) do
   -- Half has no C type to hold one number: only its storages
   local one = text.elements[kind] and ffi.new(text.elements[kind] .. '[1]')
   local storageName = core.storageNames[kind]

   --- readX(): a number; readX(n): a storage; readX(storage): fills it, how many were read.
   File['read' .. name] = function(self, what)
      if what == nil and one then
         one[0] = 0
         self:_readBlock(kind, one, 1)
         return tonumber(one[0])
      end
      if core.isStorage(what) and what.kind_ == kind then
         local got = self:_readBlock(kind, core.storagePointer(what), core.storageLength(what))
         core.hold(what)
         return got
      end
      if type(what) ~= 'number' then
         core.usage('read' .. name, 'nothing, a count or a ' .. storageName, what)
      end
      return self:_readStorage(kind, what)
   end

   --- writeX(number), writeX(table of numbers), writeX(storage); how many were written.
   File['write' .. name] = function(self, what)
      if one and (type(what) == 'number' or type(what) == 'cdata' and tonumber(what)) then
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
      core.hold(what)
      return n
   end
end

function File:readBool() return self:readInt() == 1 end
function File:writeBool(value) return self:writeInt(value and 1 or 0) end

-- strings ----------------------------------------------------------------------------------------

--- '*l': up to the end of the line, without it; '*a': all that is left.
function File:readString(format)
   self:_usable 'read'
   if format ~= '*l' and format ~= '*a' then
      fail("readString: got %s, wanted '*l' or '*a'", core.quote(format))
   end
   return text.readString(self, format == '*l')
end

--- Writes the bytes as they are, without spacing.
function File:writeString(bytes)
   self:_usable 'write'
   if type(bytes) ~= 'string' then core.usage('writeString', 'a string', bytes) end
   self:_write(bytes, #bytes)
   return #bytes
end

local function notAnObject(self)
   fail('%s: a file cannot be written to or read from a file', self.__typename)
end
File.__write, File.__read = notAnObject, notAnObject

return File
