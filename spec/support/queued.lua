--- How many items f lets be queued on each device, on the streams that users number.
local dptffi = require 'dpt.ffi'
local cutorch = require('dpt').cutorch

local function counts()
   local event, list = dptffi.ffi.new 'dpt_event', {}
   for device = 1, cutorch.getDeviceCount() do
      list[device] = 0
      for stream = 0, cutorch.getNumStreams() do
         dptffi.lib.event_record(event, device, stream)
         list[device] = list[device] + tonumber(event.number_)
      end
   end
   return list
end

--- @return a list with the number of items for each device
return function(f)
   local before = counts()
   f()
   local after = counts()
   for device, count in ipairs(before) do after[device] = after[device] - count end
   return after
end
