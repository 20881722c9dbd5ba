--- dpt.file.DiskFile: torch.DiskFile, a file on disk; and what PipeFile shares with it.
--
-- Invariant: reads and writes go by Lua's io library and C's blocks on the same FILE; between a
-- write and a read there is always a seek.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local File = require 'dpt.file.File'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local construct
local DiskFile = torch.newmetatable('torch.DiskFile', 'torch.File',
   function(...) return construct(...) end, nil, nil, torch)

--- torch.DiskFile(name [, mode [, quiet]]): mode 'r', 'w' or 'rw' (made if it is missing; the
-- default 'r'). A quiet one that cannot be opened is nil.
function construct(name, mode, quiet)
   if type(name) ~= 'string' then core.usage('torch.DiskFile', "a name [, mode]", name, mode) end
   mode = File.checkMode('torch.DiskFile', mode or 'r')
   local handle, why
   if mode == 'rw' then
      handle = io.open(name, 'r+b')
      if not handle then handle, why = io.open(name, 'w+b') end
   else
      handle, why = io.open(name, mode .. 'b')
   end
   if not handle then
      if quiet then return nil end
      fail("torch.DiskFile: cannot open '%s' in mode %s: %s", name, mode, why)
   end
   local self = setmetatable({}, DiskFile):_start(mode)
   self.handle_, self.both_, self.name_ = handle, mode == 'rw', name
   self.quiet_ = quiet and true or false
   return self
end

--- Before a read ('read') or a write after the other.
local function turn(self, to)
   if self.both_ and self.last_ ~= to then
      self.handle_:seek('cur', 0)
      self.last_ = to
   end
end

function DiskFile:_read(pointer, n)
   turn(self, 'read')
   return tonumber(C.dpt_file_read(self.handle_, pointer, n))
end

function DiskFile:_write(data, n)
   turn(self, 'write')
   if self.quiet_ and self.depth_ == 0 then
      if C.dpt_file_write(self.handle_, data, n) ~= 0 then self.error_ = true end
   else
      lib.file_write(self.handle_, data, n)
   end
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

function DiskFile:_left()
   turn(self, 'read')
   local n = tonumber(C.dpt_file_left(self.handle_))
   return n >= 0 and n or nil
end

function DiskFile:_position() return self.handle_:seek() or 0 end

function DiskFile:_seek(offset)
   local ok, why = self.handle_:seek('set', offset)
   if not ok then self:_fail('cannot seek to position %.0f: %s', offset + 1, why) end
end

function DiskFile:_length()
   return self.handle_:seek 'end' or 0
end

--- Every write goes to the system at once.
function DiskFile:noBuffer()
   self.handle_:setvbuf 'no'
   return self
end

--- Flushes what was written so far.
function DiskFile:synchronize()
   self:_usable()
   local ok, why = self.handle_:flush()
   if not ok then self:_fail('cannot write: %s', why) end
   return self
end

function DiskFile:_close()
   local ok, why = self.handle_:close()
   if not ok and why then self:_fail('cannot write: %s', why) end
end

function DiskFile:__tostring__()
   return ('%s on <%s> [status: %s -- mode %s%s]'):format(self.__typename, self.name_,
      self.open_ and 'open' or 'closed', self.readable_ and 'r' or ' ',
      self.writable_ and 'w' or ' ')
end

return DiskFile
