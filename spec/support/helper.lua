--- Runs once before busted reads the first spec.
--
-- What must stay true: busted forgets and reloads modules for every spec file, but dpt cannot be
-- loaded twice into one Lua state (new C types under live objects), so busted.lua loads ffi and dpt
-- before, and busted keeps them. A test that hangs ends the process after five minutes.
local dpt = package.loaded.dpt
if not dpt then
   error('run these specs by scripts/test busted, or as luajit spec/support/busted.lua FILE', 0)
end
package.path = './?.lua;' .. package.path

local ffi = require 'ffi'
local busted = require 'busted'
ffi.cdef 'unsigned alarm(unsigned seconds);'
busted.subscribe({'test', 'start'}, function()
   ffi.C.alarm(300) -- SIGALRM ends the process
   return nil, true
end)
busted.subscribe({'test', 'end'}, function()
   ffi.C.alarm(0)
   return nil, true
end)
require 'spec.support.modules'
-- with their modules: specs that require them get the same
assert(dpt.nn.DataParallelTable and dpt.nn.RNN)
