--- Shows that a function runs while devices sleep, and waits for none of them.
--
-- Invariant: no clock is used. An event is queried to see if a device still sleeps. If the machine
-- is so slow that a device has woken up, everything is repeated with a longer sleep.
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local cutorch = require('dpt').cutorch

-- Makes the devices sleep on their current streams. Returns a function that returns true if one is
-- awake.
local function sleep(devices, milliseconds)
   local events, done = {}, ffi.new 'int[1]'
   for i, device in ipairs(devices) do
      cutorch.withDevice(device, cutorch.streamSleep, milliseconds)
      events[i] = ffi.new 'dpt_event'
      lib.event_record(events[i], device, -1)
   end
   return function()
      for _, event in ipairs(events) do
         lib.event_query(event, done)
         if done[0] ~= 0 then return true end
      end
      return false
   end
end

--- @param devices list of numbers
-- @param f function(awake) that returns true if all of them slept while it ran, by awake();
-- called again with sleeps of 40 ms to 20 s until it returns true
return function(devices, f)
   for attempt = 1, 10 do
      cutorch.synchronizeAll()
      if f(sleep(devices, 20 * 2 ^ attempt)) then return end
   end
   error('this waits for a device that sleeps, or the machine is too slow to see', 2)
end
