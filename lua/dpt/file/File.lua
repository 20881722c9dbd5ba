--- dpt.file.File: torch.File, the base class of all files: flags, position and strings (numbers are
-- in numbers.lua, objects in object.lua).
--
-- Invariant: this file does not depend on the medium. DiskFile, PipeFile and MemoryFile implement
-- _read(pointer, n) -> bytes read, _readText(kind, pointer, n) -> numbers read, _write(data, n),
-- _byte() -> the next byte or -1, _unread(byte), _remaining() -> bytes up to the end or nil,
-- _seek(offset from 0), _length() and _position(). An error raises, or is only recorded on a quiet
-- file.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local text = require 'dpt.file.text'
local ffi, fail, type = dptffi.ffi, dptffi.fail, dptffi.type

local File = torch.newmetatable('torch.File', nil, function()
   fail 'torch.File: abstract class; use torch.DiskFile, torch.PipeFile or torch.MemoryFile'
end, nil, nil, torch)

local LITTLE = ffi.abi 'le'

--- Initializes the flags of a new file. Messages about it begin with `caller: subject `.
function File:_start(mode, caller, subject)
   self.caller_, self.subject_, self.note_ = caller, subject, ''
   self.readable_, self.writable_ = mode:find 'r' ~= nil, mode:find 'w' ~= nil
   self.binary_, self.spacing_, self.quiet_, self.error_ = false, true, false, false
   self.swap_, self.long_, self.open_ = false, 8, true
   self.force_, self.depth_, self.path_ = false, 0, {}
   return self:_reset()
end

--- Forgets the objects written and read so far.
function File:_reset()
   self.written_, self.kept_, self.count_ = {}, {}, 0
   self.known_, self.ids_ = {}, {}
   self.upvalues_, self.count_upvalues_, self.joined_, self.cells_ = {}, 0, {}, {}
   return self
end

--- Checks the mode passed to a constructor.
-- @function torch.File.checkMode
-- @as file
-- @also torch.File:checkMode()
-- @param name string: the constructor's name, for the error message
-- @param mode? string: 'r', 'w' or 'rw' ('rw')
-- @return the mode
-- @usage torch.File.checkMode('torch.MemoryFile', 'r') --> r
function File.checkMode(name, mode)
   mode = mode or 'rw'
   if mode ~= 'r' and mode ~= 'w' and mode ~= 'rw' then
      fail("%s: argument 'mode' is %s, wanted 'r', 'w' or 'rw'", name, core.quote(mode))
   end
   return mode
end

--- Raises an error, or records it on a quiet file; inside an object it always raises.
function File:_error(format, ...)
   self.error_ = true
   if self.quiet_ and self.depth_ == 0 then return end
   fail('%s: ' .. format, self.caller_, ...)
end

--- Raises or records an error whose message begins with the file's name.
function File:_fail(format, ...) return self:_error('%s ' .. format, self.subject_, ...) end

--- Raises an error whose message begins with the file's name.
function File:_raise(format, ...)
   fail('%s: %s ' .. format, self.caller_, self.subject_, ...)
end

--- Raises an error: the file contains data that no Torch7 file contains.
function File:_damaged(format, ...)
   self:_raise('is damaged, or was saved in another mode: ' .. format, ...)
end

function File:_usable(what)
   if not self.open_ then self:_raise 'is closed' end
   if what == 'read' and not self.readable_ or what == 'write' and not self.writable_ then
      self:_raise('was not opened to %s', what)
   end
end

-- flags ------------------------------------------------------------------------------------------

--- Writes and reads numbers as bytes from now on; ascii: as text (the default).
-- @function torch.File:binary
-- @as file
-- @also torch.File:ascii()
-- @return the file
-- @usage torch.MemoryFile():binary():isBinary(), torch.MemoryFile():ascii():isBinary()
--    --> true, false
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

--- Returns a setting or a property of the file, named by the method.
-- @function torch.File:isBinary
-- @as file
-- @also torch.File:isAutoSpacing()
-- @also torch.File:isQuiet()
-- @also torch.File:hasError()
-- @also torch.File:isReadable()
-- @also torch.File:isWritable()
-- @also torch.File:isOpened()
-- @return a boolean
-- @usage torch.MemoryFile('w'):isReadable(), torch.MemoryFile('w'):isWritable() --> false, true
for name, field in pairs{isBinary = 'binary_', isAutoSpacing = 'spacing_', isQuiet = 'quiet_',
   hasError = 'error_', isReadable = 'readable_', isWritable = 'writable_', isOpened = 'open_'} do
   File[name] = function(self) return self[field] end
end

--- Returns true if this machine is little-endian.
-- @function torch.File.isLittleEndianCPU
-- @as file
-- @also torch.File:isLittleEndianCPU()
-- @also torch.File.isBigEndianCPU()
-- @also torch.File:isBigEndianCPU()
-- @return a boolean
-- @usage torch.File.isLittleEndianCPU(), torch.File.isBigEndianCPU() --> true, false
function File.isLittleEndianCPU() return LITTLE end
function File.isBigEndianCPU() return not LITTLE end

--- Sets the size of a Long in binary files: 4 or 8 bytes (0: this machine's, 8).
-- @function torch.File:longSize
-- @as file
-- @param size number: 4, 8, or 0 for 8
-- @return the file
-- @usage local f = torch.MemoryFile():binary():longSize(4)
--    f:writeLong(1)
--    return #f:storage() --> 5
function File:longSize(size)
   if size ~= 0 and size ~= 4 and size ~= 8 then
      fail("longSize: argument 'size' is %s, wanted 0, 4 or 8", tostring(size))
   end
   self.long_ = size == 4 and 4 or 8
   return self
end

--- Sets whether writeObject and readObject preserve sharing, as torch.save's argument `referenced`
-- does.
-- @function torch.File:referenced
-- @as file
-- @param on boolean: true (the default) writes a value that occurs twice only once
-- @return the file
-- @usage local t, f = {1}, torch.MemoryFile():referenced(false)
--    f:writeObject{t, t}
--    f:seek(1)
--    local r = f:readObject()
--    r[1][1] = 5
--    return r --> {{5} {1}}
function File:referenced(on)
   self.force_ = not on
   return self
end

--- Returns true if writeObject and readObject preserve sharing.
-- @function torch.File:isReferenced
-- @as file
-- @return a boolean
-- @usage local f = torch.MemoryFile()
--    return f:isReferenced(), f:referenced(false):isReferenced() --> true, false
function File:isReferenced() return not self.force_ end

--- Sets how readObject handles functions: true loads them, 'skip' replaces each with a function
-- that raises when called, false raises. Never load functions from untrusted bytes.
-- @function torch.File:allowFunctions
-- @as file
-- @param how? boolean: true, false or 'skip'; nil restores the file's initial setting
-- @return the file
-- @usage local f = torch.MemoryFile()
--    f:writeObject(function() return 5 end)
--    f:seek(1)
--    return select(2, pcall(f.readObject, f:allowFunctions(false))):match 'holds a %w+ function'
--    --> holds a Lua function
function File:allowFunctions(how)
   if how ~= nil and type(how) ~= 'boolean' and how ~= 'skip' then
      fail("%s: argument 'how' is %s, wanted true, false or 'skip'", self.__typename,
         core.quote(how))
   end
   self.functions_ = how
   return self
end

--- Passes each write to a file on disk to the system at once; other files do so anyway.
-- @function torch.File:noBuffer
-- @as file
-- @return the file
-- @usage torch.type(torch.MemoryFile():noBuffer()) --> torch.MemoryFile
function File:noBuffer() return self end

--- Flushes data written so far to the system.
-- @function torch.File:synchronize
-- @as file
-- @return the file
-- @usage local p = os.tmpname()
--    local f = torch.DiskFile(p, 'w')
--    f:writeInt(4)
--    f:synchronize()
--    local v = torch.DiskFile(p):readInt()
--    f:close()
--    os.remove(p)
--    return v --> 4
function File:synchronize() return self end

-- position ---------------------------------------------------------------------------------------

--- Returns the position of the next byte to read or write.
-- @function torch.File:position
-- @as file
-- @return a number, from 1
-- @usage local f = torch.MemoryFile():binary()
--    f:writeInt(7)
--    return f:position() --> 5
function File:position()
   self:_usable()
   return self:_position() + 1
end

--- Moves to a position.
-- @function torch.File:seek
-- @as file
-- @param position number: from 1 to one after the last byte
-- @return the file
-- @usage local f = torch.MemoryFile()
--    f:writeInt(7)
--    return f:seek(1):position() --> 1
function File:seek(position)
   self:_usable()
   position = core.checkInteger('seek', 'position', position)
   if position < 1 then
      self:_fail('has no position %d, wanted 1 or more', position)
   else
      self:_seek(position - 1)
   end
   return self
end

--- Moves to the position after the last byte.
-- @function torch.File:seekEnd
-- @as file
-- @return the file
-- @usage local f = torch.MemoryFile():binary()
--    f:writeInt(7)
--    f:seek(1)
--    return f:seekEnd():position() --> 5
function File:seekEnd()
   self:_usable()
   self:_seek(self:_length())
   return self
end

--- Closes the file, after flushing data to the system.
-- @function torch.File:close
-- @as file
-- @return the file
-- @usage local f = torch.MemoryFile()
--    return f:isOpened(), f:close():isOpened() --> true, false
function File:close()
   self:_usable()
   self.open_ = false
   self:_reset()
   self:_close()
   return self
end

-- strings ----------------------------------------------------------------------------------------

--- Reads a string: with '*l', or a format that begins with '*l', the rest of the line without its
-- end; with '*a', the rest of the file. At the end of the file it raises, or returns '' on a quiet
-- file.
-- @function torch.File:readString
-- @as file
-- @param format string: '*l' or '*a'
-- @return a string
-- @usage local f = torch.MemoryFile()
--    f:writeString('one\ntwo')
--    f:seek(1)
--    return f:readString '*l', f:readString '*a' --> one, two
function File:readString(format)
   self:_usable 'read'
   local what = type(format) == 'string' and format:sub(1, 2)
   if what ~= '*l' and what ~= '*a' then
      fail("readString: argument 'format' is %s, wanted '*l' or '*a'", core.quote(format))
   end
   local first = self:_byte()
   if first < 0 then
      self:_fail 'is at its end'
      return ''
   end
   self:_unread(first)
   return text.readString(self, what == '*l')
end

--- Writes bytes unchanged, without spacing.
-- @function torch.File:writeString
-- @as file
-- @param bytes string: the bytes
-- @return the number of bytes
-- @usage torch.MemoryFile():writeString 'abc' --> 3
function File:writeString(bytes)
   self:_usable 'write'
   if type(bytes) ~= 'string' then core.usage('writeString', 'a string', bytes) end
   self:_write(bytes, #bytes)
   return #bytes
end

local function notAnObject(self)
   fail('%s: file objects cannot be serialized', self.__typename)
end
File.__write, File.__read = notAnObject, notAnObject

--- Tags shared by the reference entries of files.
-- @pattern file
-- @within files
-- @follows Torch7's torch.File
-- @raise if the file is closed or not open for the operation, or an argument has the wrong type; a
--    quiet file only records errors in its contents (hasError)

--- In text, writes a space between the numbers of one write and a newline after them (the default);
-- noAutoSpacing: writes only the data.
-- @function torch.File:autoSpacing
-- @as file
-- @also torch.File:noAutoSpacing()
-- @return the file
-- @usage local f = torch.MemoryFile():noAutoSpacing()
--    f:writeInt(torch.IntStorage{1, 2})
--    f:autoSpacing():writeInt(torch.IntStorage{3, 4})
--    f:seek(1)
--    return f:readString '*l' --> 123 4

--- Only records errors in the contents from now on, for hasError; pedantic: raises them (the
-- default).
-- @function torch.File:quiet
-- @as file
-- @also torch.File:pedantic()
-- @return the file
-- @usage local f = torch.MemoryFile():quiet()
--    return f:readInt(), f:hasError() --> 0, true

--- Clears the error that hasError reports.
-- @function torch.File:clearError
-- @as file
-- @return the file
-- @usage local f = torch.MemoryFile():quiet()
--    f:readInt()
--    return f:hasError(), f:clearError():hasError() --> true, false

--- Sets the byte order of binary numbers; the default is the machine's.
-- @function torch.File:bigEndianEncoding
-- @as file
-- @also torch.File:littleEndianEncoding()
-- @also torch.File:nativeEndianEncoding()
-- @return the file
-- @usage local f = torch.MemoryFile():binary():bigEndianEncoding()
--    f:writeInt(1)
--    return f:storage() --> 0x0x0x1x0

return File
