--- Runs once before busted reads the first spec.
--
-- What must stay true: busted forgets and reloads modules for every spec file, but dpt cannot be
-- loaded twice into one Lua state (new C types under live objects), so ffi and dpt are loaded here,
-- where busted keeps them. busted must run under LuaJIT. Without DPT_DEVICES there are 8 host
-- devices, as many as a spec may want. A test that hangs ends the process after five minutes.
if not rawget(_G, 'jit') then
   error('these specs need LuaJIT: run them by scripts/test busted, or as'
      .. ' luajit spec/support/busted.lua FILE', 0)
end
package.path = './?.lua;' .. package.path
require 'ffi'
local dpt = require 'dpt'
if not os.getenv('DPT_DEVICES') then dpt.setDevices('host:8') end

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
assert(dpt.nn.DataParallelTable) -- with its modules: specs that require them get the same
