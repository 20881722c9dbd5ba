--- dpt.parallel.dispatch.devices: checks lists of devices for replicas.
--
-- Invariant: a valid list has existing devices, each once.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local type = require('dpt.ffi').type

local devices = {}

--- Returns the list of all devices.
function devices.all()
   local list = {}
   for i = 1, cutorch.getDeviceCount() do list[i] = i end
   return list
end

--- Checks devices that are to be added to a list.
-- @param list devices already in use
-- @param more new devices: a number or a list of numbers
-- @return nil and the list of new devices, or an error message
function devices.check(list, more)
   local new, count = type(more) == 'number' and {more} or more, cutorch.getDeviceCount()
   if type(new) ~= 'table' or #new == 0 then
      return 'wants a device number or a table of them as argument 2, got ' .. torch.type(more)
   end
   local taken = {}
   for _, device in ipairs(list) do taken[device] = true end
   for i, device in ipairs(new) do
      if type(device) ~= 'number' or device % 1 ~= 0 or device < 1 or device > count then
         return ('got device %s as entry %d of argument 2, wanted 1 to %d'):format(
            tostring(device), i, count)
      end
      if taken[device] then return ('got device %d twice'):format(device) end
      taken[device] = true
   end
   return nil, new
end

return devices
