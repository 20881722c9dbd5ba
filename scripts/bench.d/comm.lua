--- bench comm: 3,000 small tensors copied between devices against one of their size; bandwidth
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dpt = require 'dpt'

if not os.getenv 'DPT_DEVICES' then dpt.setDevices 'host:2' end
local comm = dpt.comm
local N, SIZE, ROUNDS = 3000, 3500, 31
local count, devices = cutorch.getDeviceCount(), {}
for i = 1, count do devices[i] = i end

-- On each device: one tensor, views of its parts, and separate tensors of the same sizes.
local one, views, many = {}, {}, {}
for i = 1, count do
   cutorch.withDevice(i, function()
      one[i] = torch.CudaTensor(N * SIZE):fill(1)
      views[i], many[i] = {}, {}
      for k = 1, N do
         views[i][k] = one[i]:narrow(1, (k - 1) * SIZE + 1, SIZE)
         many[i][k] = torch.CudaTensor(SIZE):fill(k)
      end
   end)
end
local target = torch.CudaTensor(N * SIZE)
local otherOnes, otherViews = {}, {}
for i = 2, count do
   table.insert(otherOnes, one[i])
   for k = 1, N do table.insert(otherViews, views[i][k]) end
end

-- Runs the functions in turn, and collects garbage before each run. Returns the median seconds of
-- each function, measured until all devices are done.
local function alternate(...)
   local sides, times = {...}, {}
   for round = 0, ROUNDS do -- round 0 warms up
      for i, f in ipairs(sides) do
         collectgarbage()
         collectgarbage()
         times[i] = times[i] or {}
         times[i][round] = frame.time(function()
            f()
            cutorch.synchronizeAll()
         end)
      end
   end
   for i in ipairs(sides) do
      times[i][0] = nil
      times[i] = frame.median(times[i])
   end
   return unpack(times)
end

local copy, across, bcast1, bcastFlat, bcastNew, bcastMany = alternate(
   function() target:copy(one[1]) end,
   function() one[count]:copy(one[1]) end,
   function() comm.broadcastInto({one[1]}, otherOnes) end,
   function() comm.broadcastInto(views[1], otherViews) end,
   function() comm.broadcast(one[1], devices) end,
   function() comm.broadcastCoalesced(many[1], devices) end)
local reduce1, reduceFlat, reduceNew, reduceMany, allReduce = alternate(
   function() comm.reduceInto({one[1]}, otherOnes) end,
   function() comm.reduceInto(views[1], otherViews) end,
   function() comm.reduceAdd(one, 1) end,
   function() comm.reduceAddCoalesced(many, 1) end,
   function() comm.allReduce(one) end)

frame.head(('%d tensors of %d floats (%.1f MB) on %d devices, median of %d rounds; DPT_LINK %s')
   :format(N, SIZE, N * SIZE * 4e-6, count, ROUNDS, os.getenv 'DPT_LINK' or 'not set'))
local bytes = N * SIZE * 4
local function row(name, seconds, single)
   -- bytes that the busiest device receives, as a share of memcpy's between the same devices
   return {name, ('%.2f'):format(seconds * 1e3), ('%.2f'):format(seconds / single),
      ('%.0f %%'):format(100 * across / seconds)}
end
frame.rows{
   {'', 'ms', 'of one', "of memcpy's speed"},
   {'copy on one device', ('%.2f'):format(copy * 1e3), '', ''},
   {('copy from device 1 to %d (%.1f GB/s)'):format(count, bytes / across / 1e9),
      ('%.2f'):format(across * 1e3), '', ''},
   row('broadcast of one tensor', bcast1, bcast1),
   row('broadcast of 3,000, flat', bcastFlat, bcast1),
   row('broadcast of one to new tensors', bcastNew, bcastNew),
   row('broadcast of 3,000, coalesced', bcastMany, bcastNew),
   row('sum of one tensor', reduce1, reduce1),
   row('sum of 3,000, flat', reduceFlat, reduce1),
   row('sum of one in a new tensor', reduceNew, reduceNew),
   row('sum of 3,000, coalesced', reduceMany, reduceNew),
   row('sum on every device', allReduce, reduce1),
}
local flat = math.max(bcastFlat / bcast1, reduceFlat / reduce1)
local coalesced = math.max(bcastMany / bcastNew, reduceMany / reduceNew)
frame.finish{
   {'comm flat', ('%.2f times one tensor'):format(flat), 'at most 1.15', flat <= 1.15},
   {'comm coalesced', ('%.2f times one tensor'):format(coalesced), 'at most 1.5',
      coalesced <= 1.5},
}
