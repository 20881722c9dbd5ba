--- dpt.distributed.loading: the part of dpt.distributed.loader that runs in a worker's Lua state.
--
-- Invariant: the random numbers of a batch depend only on its position in the data set's order, not
-- on the worker that makes it. Tensors are already on the device when they are handed over. They
-- are copied on the loader's own stream, from page-locked memory if the device has separate memory,
-- and only this thread waits for the copies. A worker yields its core at once to the threads that
-- train (dpt_thread_batch).
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type

local loading = {}

local load, device, stream -- load makes batches, for `device` (nil: host memory)
local apart -- true if the device does not share the host's memory

--- Prepares worker i.
-- @param make the script's function
-- @param onDevice, onStream device and stream for the results, or nil
-- @param init of the script, or nil: called with the worker's number
function loading.begin(i, make, onDevice, onStream, init)
   C.dpt_thread_batch()
   load, device, stream = make, onDevice, onStream
   if device then
      cutorch.setDevice(device)
      cutorch.setStream(stream)
   end
   if init then init(i) end
   apart = device and cutorch.getDeviceProperties(device).integrated == 0
end

-- Page-locked tensors by type, of this batch and of earlier ones. When the stream has reached the
-- end of a batch, they are free for the next.
local locked, used = {}, {}

-- Returns a copy of a host tensor that the device can copy from, valid until the batch is handed
-- over.
local function pinned(t)
   local kind = torch.type(t):match '^torch%.(%w+)Tensor$'
   local make = cutorch[('createCudaHost%sTensor'):format(kind)]
   if not make then return t end
   local list, i = locked[kind] or {}, (used[kind] or 0) + 1
   locked[kind], used[kind] = list, i
   list[i] = list[i] or make()
   return list[i]:resize(t:size()):copy(t)
end

-- Returns the value with its host tensors copied to the device.
local function move(value)
   if torch.isTensor(value) then
      if comm.device(value) > 0 then return value end
      local there = torch.getmetatable(comm.deviceType(value:type())).new():resize(value:size())
      if value:nElement() == 0 then return there end
      return apart and there:copyAsync(pinned(value)) or there:copy(value)
   elseif type(value) == 'table' and torch.type(value) == 'table' then
      local moved = {}
      for key, inner in pairs(value) do moved[key] = move(inner) end
      return moved
   end
   return value
end

--- Makes a batch.
-- @param seed for the random numbers that it draws
-- @return {n = number of results, results...}
function loading.batch(seed, indices)
   torch.manualSeed(seed)
   local results = {load(indices)}
   results.n = table.maxn(results)
   if device then
      cutorch.setDevice(device) -- the script may have chosen another
      cutorch.setStream(stream)
      cutorch.streamSynchronize(stream) -- for the copies of a batch that failed
      used = {}
      for i = 1, results.n do results[i] = move(results[i]) end
      cutorch.streamSynchronize(stream)
   end
   return results
end

return loading
