--- Runs busted under the Lua that runs this file: `luajit spec/support/busted.lua [FILE ...]`.
-- The command `busted` may start under another Lua, which has no FFI.
--
-- What must stay true: without DPT_DEVICES there are 8 host devices, as many as a spec may want;
-- where there are fewer, specs whose names have the tag #devicesN are left out if N is more.
-- DPT_SPEC_TRANSPORT is what tensors travel between devices by.
require 'ffi'
local dpt = require 'dpt'
if not os.getenv('DPT_DEVICES') then dpt.setDevices('host:8') end
local transport = os.getenv 'DPT_SPEC_TRANSPORT'
if transport then dpt.comm.use(transport, true) end

local left = {}
for n = dpt.cutorch.getDeviceCount() + 1, 8 do left[#left + 1] = 'devices' .. n end
for i = #arg, 1, -1 do
   local tags = arg[i]:match('^%-%-exclude%-tags=(.*)$')
   if tags then
      table.insert(left, tags)
      table.remove(arg, i)
   end
end
if #left > 0 then table.insert(arg, 1, '--exclude-tags=' .. table.concat(left, ',')) end

require 'busted.runner'({standalone = false})
