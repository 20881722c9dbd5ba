--- dpt.file.File: torch.File, what all files share: flags, position and strings (numbers.lua has
-- the numbers, object.lua the objects).
--
-- Invariant: this file knows no medium. DiskFile, PipeFile and MemoryFile bring _read(pointer, n)
-- -> bytes read, _readText(kind, pointer, n) -> numbers read, _write(data, n), _byte() -> the next
-- byte or -1, _unread(byte), _left() -> bytes up to the end or nil, _seek(offset from 0), _length()
-- and _position(). An error raises, or is only noted on a quiet file.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local text = require 'dpt.file.text'
local ffi, fail, type = dptffi.ffi, dptffi.fail, dptffi.type

local File = torch.newmetatable('torch.File', nil, function()
   fail('torch.File: wanted torch.DiskFile, torch.PipeFile or torch.MemoryFile')
end, nil, nil, torch)

local LITTLE = ffi.abi 'le'

--- The flags of a new file.
function File:_start(mode)
   self.readable_, self.writable_ = mode:find 'r' ~= nil, mode:find 'w' ~= nil
   self.binary_, self.spacing_, self.quiet_, self.error_ = false, true, false, false
   self.swap_, self.long_, self.open_ = false, 8, true
   self.force_, self.depth_, self.path_ = false, 0, {}
   return self:_reset()
end

--- Nothing is known of the objects written and read so far.
function File:_reset()
   self.written_, self.kept_, self.count_ = {}, {}, 0
   self.known_, self.ids_ = {}, {}
   self.upvalues_, self.count_upvalues_, self.joined_ = {}, 0, {}
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

--- Raises an error, or notes the error on a quiet file; inside an object it always raises.
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

--- What readObject does with functions: true: loads them, 'skip': puts a function instead of them
-- that raises when called, false: raises. Bytes from elsewhere must not be loaded as functions.
function File:allowFunctions(how)
   if how ~= nil and type(how) ~= 'boolean' and how ~= 'skip' then
      fail("%s: functions are %s, wanted true, false or 'skip'", self.__typename, core.quote(how))
   end
   self.functions_ = how
   return self
end

function File:noBuffer() return self end
function File:synchronize() return self end

-- position ---------------------------------------------------------------------------------------

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
   self:_reset()
   self:_close()
end

-- strings ----------------------------------------------------------------------------------------

--- '*l' or a format that begins so: up to the end of the line, without it; '*a': all that is left.
-- At the end of the file an error, and '' on a quiet file.
function File:readString(format)
   self:_usable 'read'
   local what = type(format) == 'string' and format:sub(1, 2)
   if what ~= '*l' and what ~= '*a' then
      fail("readString: got %s, wanted '*l' or '*a'", core.quote(format))
   end
   local first = self:_byte()
   if first < 0 then
      self:_fail 'read no byte, the file is at its end'
      return ''
   end
   self:_unread(first)
   return text.readString(self, what == '*l')
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
