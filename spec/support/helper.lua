--- Runs once before busted reads the first spec.
--
-- What must stay true: busted forgets and reloads modules for every spec file, but dpt cannot be
-- loaded twice into one Lua state (new C types under live objects), so ffi and dpt are loaded here,
-- where busted keeps them. busted must run under LuaJIT. Without DPT_DEVICES there are 8 host
-- devices, as many as a spec may want.
if not rawget(_G, 'jit') then
   error('these specs need LuaJIT: run them by scripts/test busted, or as'
      .. ' luajit spec/support/busted.lua FILE', 0)
end
package.path = './?.lua;' .. package.path
require 'ffi'
local dpt = require 'dpt'
if not os.getenv('DPT_DEVICES') then dpt.setDevices('host:8') end
