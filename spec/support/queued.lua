--- Counts the items that f queues on each device, on streams that users number.
--
-- Invariant: a wait for completed work queues nothing, so every device sleeps while f runs.
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local cutorch = require('dpt').cutorch
local asleep = require 'spec.support.asleep'

local function counts()
   local event, list = ffi.new 'dpt_event', {}
   for device = 1, cutorch.getDeviceCount() do
      list[device] = 0
      for stream = 0, cutorch.getNumStreams() do
         lib.event_record(event, device, stream)
         list[device] = list[device] + tonumber(event.number_)
      end
   end
   return list
end

--- @return a list with the number of items for each device
return function(f)
   local devices, items = {}, {}
   for device = 1, cutorch.getDeviceCount() do devices[device] = device end
   asleep(devices, function(awake)
      local before = counts()
      f()
      local after = counts()
      for device, count in ipairs(before) do items[device] = after[device] - count end
      return not awake()
   end)
   return items
end
