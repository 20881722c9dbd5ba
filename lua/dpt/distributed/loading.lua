--- dpt.distributed.loading: the end of dpt.distributed.loader in a worker's Lua state.
--
-- Invariant: what a batch draws goes by its place in the data set's order alone, not by the worker
-- that makes it. Tensors that are handed over are on the device already: they go there on a stream
-- of the loader's own, from page-locked memory if the device has another memory than the host, and
-- only this thread waits for that. A worker lets the threads that train have a core at once
-- (dpt_thread_batch).
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type

local loading = {}

local load, device, stream -- what makes batches, and where they go; device nil: host memory
local apart -- the device does not share the host's memory

--- @param make the function of a script
-- @param onDevice, onStream where results go, or nil
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

-- Page-locked tensors by type, of this batch and of those before it: when the stream has come to
-- the end of a batch they are free for the next.
local locked, used = {}, {}

-- A host tensor where the device can copy from, until the batch is handed over.
local function pinned(t)
   local kind = torch.type(t):match '^torch%.(%a+)Tensor$'
   local make = cutorch[('createCudaHost%sTensor'):format(kind)]
   if not make then return t end
   local list, i = locked[kind] or {}, (used[kind] or 0) + 1
   locked[kind], used[kind] = list, i
   list[i] = list[i] or make()
   return list[i]:resize(t:size()):copy(t)
end

-- The value with its host tensors on the device.
local function move(value)
   if torch.isTensor(value) then
      if comm.device(value) > 0 or not torch.type(value):find('^torch%.%a+Tensor$') then
         return value
      end
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
-- @param seed of what it draws
-- @return {n = how many results, results...}
function loading.batch(seed, indices)
   torch.manualSeed(seed)
   local results = {load(indices)}
   results.n = table.maxn(results)
   if device then
      cutorch.setDevice(device) -- the script may have chosen others
      cutorch.setStream(stream)
      cutorch.streamSynchronize(stream) -- copies of a batch that failed
      used = {}
      for i = 1, results.n do results[i] = move(results[i]) end
      cutorch.streamSynchronize(stream)
   end
   return results
end

return loading
