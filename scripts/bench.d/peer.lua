--- Runs a benchmark's peer: a Python process that takes one step for each line it reads.
--
-- Invariant: the peer waits while this process works, and vice versa, so that a slow moment of the
-- machine affects both. The Python is DPT_PEER_PYTHON's, or one that has PyTorch.
local frame = require 'frame'

local peer = {}

--- Returns the Python that has PyTorch: Debian's package (python3-torch) belongs to
-- /usr/bin/python3. Ends the process if there is none.
-- @param bench name of the benchmark @param target as its last line says it
function peer.python(bench, target)
   for _, name in ipairs{os.getenv 'DPT_PEER_PYTHON' or '/usr/bin/python3', 'python3'} do
      if frame.succeeds(name .. " -c 'import torch' 2>/dev/null") then return name end
   end
   print 'PyTorch not found: install python3-torch (Debian), or set DPT_PEER_PYTHON to a Python'
   print 'that has it.'
   print(('%s: no peer (target %s) short'):format(bench, target))
   os.exit(1)
end

--- Starts a script, which prints its version first, then a line for each line it reads.
-- @return a function that sends a line ('' for nil) and returns the number in the reply; the
-- version
function peer.start(interpreter, script, arguments)
   local name = os.tmpname()
   local path, answers = name .. '.py', name .. '.answers'
   local file = assert(io.open(path, 'w'))
   file:write(script)
   file:close()
   assert(frame.succeeds(("mkfifo '%s'"):format(answers)), 'mkfifo failed')
   local to = io.popen(("%s '%s' %s > '%s'"):format(interpreter, path, arguments, answers), 'w')
   local from = assert(io.open(answers))
   local version = from:read()
   for _, each in ipairs{name, path, answers} do os.remove(each) end
   return function(line)
      to:write(line or '', '\n')
      to:flush()
      return tonumber(from:read())
   end, version
end

return peer
