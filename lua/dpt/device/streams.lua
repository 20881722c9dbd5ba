--- dpt.device.streams: cutorch's streams, and the waits between them.
--
-- Invariant: streams are numbered from 1 on every device alike, 0 is a device's default stream.
-- setStream sets the stream of every device for this thread, as in Torch7. Only streamSynchronize
-- waits; the others let streams wait for streams.
local dptffi = require 'dpt.ffi'
local ffi, lib, fail = dptffi.ffi, dptffi.lib, dptffi.fail
local torch = require('dpt.class').torch
local type = torch.type

local slot = ffi.new 'int[1]'

--- Adds the functions to cutorch. whole(fn, name, v) reads a whole number from an argument.
return function(cutorch, whole)
   local function streamNumber(fn, v)
      v = whole(fn, 'stream', v)
      if v < 0 then fail("%s: argument 'stream' is %d, wanted 0 or more", fn, v) end
      return v
   end

   local function streamList(fn, list)
      if type(list) ~= 'table' then
         fail('%s: got %s, wanted a table of streams', fn, type(list))
      end
      return list
   end

   --- Every device has at least n streams beside its default one.
   -- @param nonblocking true: the new ones are not ordered with the default stream
   function cutorch.reserveStreams(n, nonblocking)
      lib.stream_reserve(whole('reserveStreams', 'n', n), nonblocking and 1 or 0)
   end

   function cutorch.getNumStreams()
      lib.stream_count(slot)
      return slot[0]
   end

   --- The stream of this thread, of every device, for the work that is queued from now on.
   function cutorch.setStream(stream) lib.stream_set(0, streamNumber('setStream', stream)) end

   function cutorch.setDefaultStream() lib.stream_set(0, 0) end

   function cutorch.getStream()
      lib.stream_get(0, slot)
      return slot[0]
   end

   --- Waits for all work of a stream of the current device; raises the error of work that failed.
   function cutorch.streamSynchronize(stream)
      lib.stream_synchronize(0, streamNumber('streamSynchronize', stream))
   end

   -- Adds to events one for everything queued now on the streams of a device (0: the current one).
   local function record(fn, events, device, streams)
      for _, stream in ipairs(streamList(fn, streams)) do
         local event = ffi.new 'dpt_event'
         lib.event_record(event, device, streamNumber(fn, stream))
         events[#events + 1] = event
      end
   end

   local function recordAll(fn, devices)
      local events = {}
      for device, streams in pairs(streamList(fn, devices)) do
         record(fn, events, whole(fn, 'device', device), streams)
      end
      return events
   end

   local function wait(device, stream, events)
      for _, event in ipairs(events) do lib.stream_wait_event(device, stream, event) end
   end

   --- A stream of the current device waits for what the listed ones have to do now.
   function cutorch.streamWaitFor(stream, streams)
      local events = {}
      record('streamWaitFor', events, 0, streams)
      wait(0, streamNumber('streamWaitFor', stream), events)
   end

   --- The same for a stream of any device.
   -- @param devices {[device] = {streams}}
   function cutorch.streamWaitForMultiDevice(device, stream, devices)
      local fn = 'streamWaitForMultiDevice'
      device = whole(fn, 'device', device)
      wait(device, streamNumber(fn, stream), recordAll(fn, devices))
   end

   --- All of the listed streams of the current device wait for each other.
   function cutorch.streamBarrier(streams)
      local events = {}
      record('streamBarrier', events, 0, streams)
      for _, stream in ipairs(streams) do wait(0, stream, events) end
   end

   --- The same for streams of several devices.
   -- @param devices {[device] = {streams}}
   function cutorch.streamBarrierMultiDevice(devices)
      local events = recordAll('streamBarrierMultiDevice', devices)
      for device, streams in pairs(devices) do
         for _, stream in ipairs(streams) do wait(device, stream, events) end
      end
   end

   --- cutorch.Event(): everything that the current stream of the current device has to do now.
   local Event = torch.class('cutorch.Event')

   function Event:__init()
      self.event = ffi.new 'dpt_event'
      lib.event_record(self.event, 0, -1)
   end

   --- The current stream of the current device waits for it.
   function Event:waitOn()
      lib.stream_wait_event(0, -1, self.event)
   end

   --- Keeps the current stream of the current device busy that long, without using a core.
   function cutorch.streamSleep(milliseconds)
      if type(milliseconds) ~= 'number' or milliseconds < 0 then
         fail('streamSleep: got %s, wanted a number of milliseconds', milliseconds)
      end
      lib.stream_sleep(milliseconds)
   end
   --- The same in cycles of a clock of 1 GHz.
   function cutorch._sleep(cycles)
      if type(cycles) ~= 'number' or cycles ~= cycles or cycles < 0 then
         fail('_sleep: got %s, wanted a number of cycles', tostring(cycles))
      end
      lib.stream_sleep(cycles / 1e6)
   end
end
