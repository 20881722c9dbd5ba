--- How many items f lets be queued on each device, on the streams that users number.
-- What must stay true: a wait for what is done already queues nothing, so every device is kept busy
-- while f runs; where f took longer than that, it is run again.
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local cutorch = require('dpt').cutorch

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

-- Lets every device sleep; a function that tells whether all still do.
local function sleep(milliseconds)
   local events, done = {}, ffi.new 'int[1]'
   for device = 1, cutorch.getDeviceCount() do
      cutorch.withDevice(device, cutorch.streamSleep, milliseconds)
      events[device] = ffi.new 'dpt_event'
      lib.event_record(events[device], device, -1)
   end
   return function()
      for _, event in ipairs(events) do
         lib.event_query(event, done)
         if done[0] ~= 0 then return false end
      end
      return true
   end
end

--- @return a list with the number of items for each device
return function(f)
   for attempt = 1, 6 do
      cutorch.synchronizeAll()
      local asleep = sleep(20 * 2 ^ attempt)
      local before = counts()
      f()
      local after, good = counts(), asleep()
      for device, count in ipairs(before) do after[device] = after[device] - count end
      if good then return after end
   end
   error 'the machine is too busy to count what is queued'
end
