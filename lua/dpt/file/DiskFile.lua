--- dpt.file.DiskFile: torch.DiskFile, a file on disk; and the code that PipeFile shares with it.
--
-- Invariant: reads and writes use Lua's io library and C blocks on the same FILE, with a seek
-- between a write and a read. When a method returns, a device or a pipe has received all data
-- written (dpt.output).
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local output = require 'dpt.output'
local torch = require('dpt.class').torch
local File = require 'dpt.file.File'
local ffi, C, fail, type = dptffi.ffi, dptffi.C, dptffi.fail, dptffi.type

local FOLDER = 2 -- of dpt_path_kind

local construct
local DiskFile = torch.newmetatable('torch.DiskFile', 'torch.File',
   function(...) return construct('torch.DiskFile', ...) end, nil, nil, torch)

local function open(name, mode)
   local handle, why
   if mode == 'rw' then
      handle = output.open(name, 'r+b')
      if not handle then handle, why = output.open(name, 'w+b') end
   elseif mode == 'r' and C.dpt_path_kind(name) == FOLDER then
      return nil, 'is a directory' -- fopen would open it
   else
      handle, why = output.open(name, mode .. 'b')
   end
   return handle, why
end

--- torch.DiskFile(name [, mode [, quiet]]): mode 'r', 'w' or 'rw' (creates a missing file; default
-- 'r'). Returns nil if a quiet file cannot be opened. Messages begin with the caller's name.
function construct(caller, name, mode, quiet)
   if type(name) ~= 'string' then core.usage(caller, "a name [, mode]", name, mode) end
   mode = File.checkMode(caller, mode or 'r')
   local handle, why = open(name, mode)
   if not handle then
      if quiet then return nil end
      fail("%s: cannot open '%s' in mode %s: %s", caller, name, mode, why)
   end
   local self = setmetatable({}, DiskFile):_start(mode, caller, name)
   self.handle_, self.both_, self.name_ = handle, mode == 'rw', name
   self.quiet_ = quiet and true or false
   self.device_ = mode ~= 'r' and output.isDevice(handle)
   return self
end

--- Opens a file for the function `caller`, whose name begins the messages.
-- @param subject? name of the file in messages (its path)
-- @param note? end of the message if a write fails
function DiskFile._open(caller, name, mode, subject, note)
   local self = construct(caller, name, mode)
   self.subject_, self.note_ = subject or name, note or ''
   return self
end

--- Seeks before a read ('read') that follows a write, or a write that follows a read.
local function turn(self, to)
   if self.both_ and self.last_ ~= to then
      self.handle_:seek('cur', 0)
      self.last_ = to
   end
end

function DiskFile:_read(pointer, n)
   turn(self, 'read')
   local got = tonumber(C.dpt_file_read(self.handle_, pointer, n))
   if got >= 0 then return got end
   self:_fail('cannot be read: %s', ffi.string(C.dpt_message()))
   return 0
end

--- Raises, or records on a quiet file, that a write failed.
function DiskFile:_cannotWrite(why)
   self:_error('cannot write %s: %s%s', self.subject_, why, self.note_)
end

function DiskFile:_write(data, n)
   turn(self, 'write')
   local ok, why = output.write(self.handle_, data, n)
   if ok and self.device_ and self.depth_ == 0 then ok, why = output.flush(self.handle_) end
   if not ok then self:_cannotWrite(why) end
end

function DiskFile:_readText(kind, pointer, n)
   turn(self, 'read')
   return tonumber(C.dpt_text_read(self.handle_, nil, nil, kind, pointer, n))
end

function DiskFile:_byte()
   turn(self, 'read')
   return C.dpt_file_byte(self.handle_)
end

function DiskFile:_unread(byte) C.dpt_file_unread(self.handle_, byte) end

function DiskFile:_remaining()
   turn(self, 'read')
   local n = tonumber(C.dpt_file_left(self.handle_))
   return n >= 0 and n or nil
end

function DiskFile:_position() return self.handle_:seek() or 0 end

function DiskFile:_seek(offset)
   local ok, why = self.handle_:seek('set', offset)
   if not ok then self:_fail('has no position %.0f: %s', offset + 1, why) end
end

function DiskFile:_length()
   return self.handle_:seek 'end' or 0
end

--- Passes every write to the system at once.
function DiskFile:noBuffer()
   self.handle_:setvbuf 'no'
   return self
end

--- Flushes everything written so far.
function DiskFile:synchronize()
   self:_usable()
   local ok, why = output.flush(self.handle_)
   if not ok then self:_cannotWrite(why) end
   return self
end

function DiskFile:_close()
   local ok, why = output.close(self.handle_)
   if not ok then self:_cannotWrite(why) end
end

function DiskFile:__tostring__()
   return ('%s on <%s> [status: %s -- mode %s%s]'):format(self.__typename, self.name_,
      self.open_ and 'open' or 'closed', self.readable_ and 'r' or ' ',
      self.writable_ and 'w' or ' ')
end

return DiskFile
