--- dpt: what `require 'dpt'` gives: a table whose fields are the rooms.
--
-- What must stay true: this is the only file that knows all rooms; only dpt.compat writes globals.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local compat = require 'dpt.compat'

local dpt = {_VERSION = dptffi.ffi.string(dptffi.C.dpt_version())}
compat.refuse()

--- A room that is not there yet, or that needs one that is not, is left out.
local function room(name)
   local ok, result = pcall(require, name)
   if ok then return result or nil end
   if not tostring(result):find "module 'dpt%.[%w.]+' not found" then error(result, 0) end
end

dpt.torch = require 'dpt.tensor'
class.rooms.torch = dpt.torch
for _, name in ipairs{'paths', 'sys', 'xlua'} do dpt[name] = room('dpt.util.' .. name) end
room 'dpt.util'
for _, name in ipairs{'cutorch', 'comm', 'nn', 'cudnn', 'optim'} do
   local file = name == 'cutorch' and 'dpt.device' or 'dpt.' .. name
   dpt[name] = room(file)
end

--- Layers then work on one fixed row block (or image) at a time: the bits of a row's output and
-- gradInput do not depend on the other rows of its batch. DPT_DETERMINISTIC=1 says the same.
function dpt.setDeterministic(on) dptffi.C.dpt_deterministic_set(on and 1 or 0) end

compat.install(dpt)

local count = dptffi.ffi.new 'int[1]'

-- Scripts ask "if cutorch then": without a device its names are not there.
local function showDevices()
   local none = dptffi.C.dpt_device_expected(count) == 0 and count[0] == 0
   compat.devices(dpt, not none)
end
showDevices()

--- Says what the devices are, as DPT_DEVICES does: 'host:4', 'none', 'cuda', 'cuda:0,2'. An error
-- after the first use of a device.
function dpt.setDevices(spec)
   if type(spec) ~= 'string' then
      dptffi.fail("setDevices: got %s, wanted a string as in 'host:4'", class.torch.type(spec))
   end
   dptffi.lib.devices_set(spec)
   showDevices()
end

--- One line: what the devices are and why.
function dpt.devices() return dptffi.ffi.string(dptffi.C.dpt_device_report()) end

dptffi.lib.interrupt_install()

return dpt
