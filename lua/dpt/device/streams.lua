--- dpt.device.streams: cutorch's streams, and the waits between them.
--
-- Invariant: every device has the same stream numbers: from 1, and 0 for its default stream.
-- setStream sets the stream of every device for this thread, as in Torch7. Only streamSynchronize
-- waits on the host; the others make streams wait for streams.
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

   --- Makes at least n streams on every device, besides its default stream.
   -- @function cutorch.reserveStreams
   -- @as cutorch
   -- @param n number: minimum number of streams
   -- @param nonblocking? boolean: true: the new streams are not ordered with the default stream
   -- @return nothing
   -- @usage cutorch.reserveStreams(2)
   --    cutorch.setStream(2)
   --    local now = cutorch.getStream()
   --    cutorch.setStream(0)
   --    return now --> 2
   function cutorch.reserveStreams(n, nonblocking)
      lib.stream_reserve(whole('reserveStreams', 'n', n), nonblocking and 1 or 0)
   end

   --- Returns the number of streams of every device, besides its default stream.
   -- @function cutorch.getNumStreams
   -- @as cutorch
   -- @return a number
   -- @usage local n = cutorch.getNumStreams()
   --    cutorch.reserveStreams(n + 1)
   --    return cutorch.getNumStreams() - n --> 1
   function cutorch.getNumStreams()
      lib.stream_count(slot)
      return slot[0]
   end

   --- Sets this thread's stream on every device, for work that is queued from now on.
   -- @function cutorch.setStream
   -- @as cutorch
   -- @param stream number: from 1; 0: the default stream
   -- @return nothing
   -- @usage cutorch.reserveStreams(1)
   --    cutorch.setStream(1)
   --    local s = cutorch.getStream()
   --    cutorch.setStream(0)
   --    return s --> 1
   function cutorch.setStream(stream) lib.stream_set(0, streamNumber('setStream', stream)) end

   --- Makes the default stream of each device the current one of this thread.
   -- @function cutorch.setDefaultStream
   -- @as cutorch
   -- @return nothing
   -- @usage cutorch.setDefaultStream() return cutorch.getStream() --> 0
   function cutorch.setDefaultStream() lib.stream_set(0, 0) end

   --- Returns the stream on which this thread's work is queued.
   -- @function cutorch.getStream
   -- @as cutorch
   -- @return a number; 0: the default stream
   -- @usage cutorch.getStream() --> 0
   function cutorch.getStream()
      lib.stream_get(0, slot)
      return slot[0]
   end

   --- Waits for all work of a stream of the current device; raises the error of failed work.
   -- @function cutorch.streamSynchronize
   -- @as cutorch
   -- @param stream number: from 1; 0: the default stream
   -- @return nothing
   -- @usage local t = torch.CudaTensor(2):fill(6)
   --    cutorch.streamSynchronize(0)
   --    return t --> [6 6]
   function cutorch.streamSynchronize(stream)
      lib.stream_synchronize(0, streamNumber('streamSynchronize', stream))
   end

   -- Records an event on each of the streams of a device (0: the current one), and appends it to
   -- events.
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

   --- Makes a stream of the current device wait for the work queued so far on the listed streams.
   -- @function cutorch.streamWaitFor
   -- @as cutorch
   -- @param stream number: the stream that waits
   -- @param streams table: a list of the streams to wait for
   -- @return nothing
   -- @usage cutorch.reserveStreams(2)
   --    cutorch.setStream(2)
   --    local x = torch.CudaTensor(1):fill(3)
   --    cutorch.streamWaitFor(1, {2})
   --    cutorch.setStream(1)
   --    local y = x + 1
   --    cutorch.setStream(0)
   --    cutorch.synchronize()
   --    return y --> [4]
   function cutorch.streamWaitFor(stream, streams)
      local events = {}
      record('streamWaitFor', events, 0, streams)
      wait(0, streamNumber('streamWaitFor', stream), events)
   end

   --- Makes a stream of any device wait for streams of several devices.
   -- @function cutorch.streamWaitForMultiDevice
   -- @as cutorch
   -- @param device number: of the stream that waits
   -- @param stream number: the stream that waits
   -- @param devices table: device -> list of its streams to wait for
   -- @return nothing
   -- @usage cutorch.reserveStreams(1)
   --    local x = cutorch.withDevice(2, function() return torch.CudaTensor(1):fill(3) end)
   --    cutorch.streamWaitForMultiDevice(1, 1, {[2] = {0}})
   --    cutorch.setStream(1)
   --    local y = torch.CudaTensor(1):copy(x)
   --    cutorch.setStream(0)
   --    cutorch.synchronize()
   --    return y --> [3]
   function cutorch.streamWaitForMultiDevice(device, stream, devices)
      local fn = 'streamWaitForMultiDevice'
      device = whole(fn, 'device', device)
      wait(device, streamNumber(fn, stream), recordAll(fn, devices))
   end

   --- Makes the listed streams of the current device wait for each other.
   -- @function cutorch.streamBarrier
   -- @as cutorch
   -- @param streams table: a list of streams
   -- @return nothing
   -- @usage cutorch.reserveStreams(2)
   --    cutorch.setStream(1)
   --    local x = torch.CudaTensor(1):fill(3)
   --    cutorch.streamBarrier{1, 2}
   --    cutorch.setStream(2)
   --    local y = x * 2
   --    cutorch.setStream(0)
   --    cutorch.synchronize()
   --    return y --> [6]
   function cutorch.streamBarrier(streams)
      local events = {}
      record('streamBarrier', events, 0, streams)
      for _, stream in ipairs(streams) do wait(0, stream, events) end
   end

   --- Makes streams of several devices wait for each other.
   -- @function cutorch.streamBarrierMultiDevice
   -- @as cutorch
   -- @param devices table: device -> list of its streams
   -- @return nothing
   -- @usage cutorch.reserveStreams(1)
   --    local x = cutorch.withDevice(2, function() return torch.CudaTensor(1):fill(5) end)
   --    cutorch.streamBarrierMultiDevice{{1}, {0}}
   --    cutorch.setStream(1)
   --    local y = torch.CudaTensor(1):copy(x)
   --    cutorch.setStream(0)
   --    cutorch.synchronizeAll()
   --    return y --> [5]
   function cutorch.streamBarrierMultiDevice(devices)
      local events = recordAll('streamBarrierMultiDevice', devices)
      for device, streams in pairs(devices) do
         for _, stream in ipairs(streams) do wait(device, stream, events) end
      end
   end

   --- Records an event on the current stream of the current device, after the work queued so far.
   -- @function cutorch.Event
   -- @as cutorch
   -- @return an event
   -- @usage torch.type(cutorch.Event()) --> cutorch.Event
   local Event = torch.class('cutorch.Event')

   function Event:__init()
      self.event = ffi.new 'dpt_event'
      lib.event_record(self.event, 0, -1)
   end

   --- Makes the current stream of the current device wait for the event.
   -- @function cutorch.Event:waitOn
   -- @as cutorch
   -- @return nothing
   -- @usage local t, e = torch.CudaTensor(1):fill(5), cutorch.Event()
   --    cutorch.reserveStreams(1)
   --    cutorch.setStream(1)
   --    e:waitOn()
   --    t:add(1)
   --    cutorch.setStream(0)
   --    cutorch.streamBarrier{0, 1}
   --    return t --> [6]
   function Event:waitOn()
      lib.stream_wait_event(0, -1, self.event)
   end

   --- Keeps the current stream of the current device busy for some time, without using a core.
   -- @function cutorch.streamSleep
   -- @as cutorch
   -- @param milliseconds number: the duration
   -- @return nothing
   -- @usage local start = torch.tic()
   --    cutorch.streamSleep(2)
   --    cutorch.synchronize()
   --    return torch.toc(start) -- 0.002 at least
   function cutorch.streamSleep(milliseconds)
      if type(milliseconds) ~= 'number' or milliseconds < 0 then
         fail("streamSleep: argument 'milliseconds' is %s, wanted 0 or more", milliseconds)
      end
      lib.stream_sleep(milliseconds)
   end
   --- Keeps the current stream busy for a number of cycles of a 1 GHz clock.
   function cutorch._sleep(cycles)
      if type(cycles) ~= 'number' or cycles ~= cycles or cycles < 0 then
         fail('_sleep: got %s, wanted a number of cycles', tostring(cycles))
      end
      lib.stream_sleep(cycles / 1e6)
   end
end
