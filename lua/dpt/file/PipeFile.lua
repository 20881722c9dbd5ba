--- dpt.file.PipeFile: torch.PipeFile, the output or the input of a command.
--
-- Invariant: a pipe has no position and no length: unknown values are nil, and reads allocate
-- memory only as bytes arrive. If the command has ended, the method that writes to it raises an
-- error (dpt.output).
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
   local self = setmetatable({}, PipeFile):_start(mode, 'torch.PipeFile',
      ("the %s of '%s'"):format(mode == 'r' and 'output' or 'input', command))
   self.handle_, self.name_, self.quiet_ = handle, command, quiet and true or false
   self.device_ = mode == 'w'
   return self
end

function PipeFile:_cannotWrite(why)
   self:_error("cannot write to '%s': %s", self.name_,
      why == 'broken pipe' and 'its program has ended (broken pipe)' or why)
end

-- The exit status of the command is ignored.
function PipeFile:_close() self.handle_:close() end
function PipeFile:_seek() self:_fail 'is a pipe, which cannot seek' end
function PipeFile:_length() return 0 end
function PipeFile:_remaining() return nil end

return PipeFile
