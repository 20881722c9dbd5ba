--- dpt.file.PipeFile: torch.PipeFile, the output or the input of a command.
--
-- Invariant: a pipe has no position and no length: what cannot be known is nil, and reads take
-- memory only as bytes arrive.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local File = require 'dpt.file.File'
local fail, type = dptffi.fail, dptffi.type

require 'dpt.file.DiskFile'
local construct
local PipeFile = torch.newmetatable('torch.PipeFile', 'torch.DiskFile',
   function(...) return construct(...) end, nil, nil, torch)

--- torch.PipeFile(command [, mode [, quiet]]): mode 'r' (the default) or 'w'.
function construct(command, mode, quiet)
   if type(command) ~= 'string' then
      core.usage('torch.PipeFile', 'a command [, mode]', command, mode)
   end
   mode = File.checkMode('torch.PipeFile', mode or 'r')
   if mode == 'rw' then fail "torch.PipeFile: argument 'mode' is 'rw', wanted 'r' or 'w'" end
   local handle, why = io.popen(command, mode)
   if not handle then
      if quiet then return nil end
      fail("torch.PipeFile: cannot run '%s': %s", command, why)
   end
   local self = setmetatable({}, PipeFile):_start(mode)
   self.handle_, self.name_, self.quiet_ = handle, command, quiet and true or false
   return self
end

-- How the command ends is its own affair.
function PipeFile:_close() self.handle_:close() end
function PipeFile:_seek() self:_fail 'a pipe cannot seek' end
function PipeFile:_length() return 0 end
function PipeFile:_left() return nil end

return PipeFile
