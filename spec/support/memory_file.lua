--- Converts bytes to files in memory, and back.
local torch = require 'torch'

local M = {}

--- Returns a torch.MemoryFile that contains the bytes, positioned at the start.
function M.of(bytes)
   local f = torch.MemoryFile()
   f:writeString(bytes)
   return f:seek(1)
end

--- Returns all bytes written to a torch.MemoryFile.
function M.bytes(f) return f:storage():string():sub(1, -2) end

return M
