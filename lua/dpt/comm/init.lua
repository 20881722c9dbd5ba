--- dpt.comm: broadcasts, sums, splits and joins tensors across devices, with the semantics of
-- PyTorch.
--
-- Invariant: no function here waits, except for host tensors, which have been read or written on
-- return. Sums are computed in the order of their inputs, so the same call returns the same bits.
-- Functions whose names end in Into write to existing tensors; dpt.parallel is built on them. The
-- others allocate their results. Many small tensors are sent as few large buffers, and the results
-- are views of those.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local report = require 'dpt.report'
local cutorch = require 'dpt.device'
local coalesce = require 'dpt.comm.coalesce'
local lists = require 'dpt.comm.lists'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local pointers, constant, integers = lists.pointers, lists.constant, lists.integers
local checkInteger, expect = core.checkInteger, require 'dpt.class.expect'

local comm = {}
for name, value in pairs(coalesce) do comm[name] = value end

--- Chooses the transport of tensors between devices. The choice is reported once on stderr.
-- comm.use is an older name of this function.
-- @function comm.setTransport
-- @as comm
-- @also comm.use()
-- @param name string: 'copy' or 'nccl'
-- @param strict? boolean: true: raises if the transport is not available
-- @return true if the transport is available
-- @usage local comm = require('dpt').comm
--    local before = comm.transport()
--    comm.setTransport 'copy'
--    local now = comm.transport()
--    comm.setTransport(before)
--    return now --> copy
function comm.setTransport(name, strict)
   if type(name) ~= 'string' then
      fail("comm.setTransport: argument 'name' is of type %s, wanted 'copy' or 'nccl'",
         torch.type(name))
   end
   local before = comm.transport()
   if C.dpt_comm_use(name) == 0 then
      if name ~= before then report('tensors travel between devices by ' .. name) end
      return true
   end
   if strict then dptffi.raiseMessage() end
   report(ffi.string(C.dpt_message()))
   return false
end

--- Returns the name of the transport in use.
-- @function comm.transport
-- @as comm
-- @return a string
-- @usage type(require('dpt').comm.transport()) --> string
function comm.transport() return ffi.string(C.dpt_comm_transport()) end

--- Returns the device of a tensor; 0: host memory or no storage.
-- @function comm.device
-- @as comm
-- @param tensor tensor: of any type
-- @return a number
-- @usage require('dpt').comm.device(torch.CudaTensor(1)),
--       require('dpt').comm.device(torch.Tensor(1)) --> 1, 0
function comm.device(tensor)
   if not core.isTensor(tensor) then
      fail("comm.device: argument 'tensor': got a %s, wanted a tensor", torch.type(tensor))
   end
   return C.dpt_tensor_device(tensor)
end

--- Returns the address of a tensor's storage as a number; 0 if it has none.
-- @function comm.address
-- @as comm
-- @param tensor tensor: of any type
-- @return a number
-- @usage local x, address = torch.Tensor(2), require('dpt').comm.address
--    return address(x:narrow(1, 2, 1)) - address(x), address(torch.Tensor()) --> 0, 0
function comm.address(tensor)
   expect('comm.address', 'tensor', tensor, 'tensor')
   return tonumber(ffi.cast('uintptr_t', tensor.storage_))
end

--- Returns a number that changes when one of the tensors is written to. It also changes when queued
-- work fails, since copies of the tensors may then not have been made.
-- @function comm.version
-- @as comm
-- @param tensors table: a list of tensors
-- @return a number
-- @usage local x, version = torch.Tensor(2), require('dpt').comm.version
--    local before = version{x}
--    x:fill(1)
--    return version{x} - before --> 1
function comm.version(tensors)
   expect('comm.version', 'tensors', tensors, 'table')
   local sum = tonumber(C.dpt_failures())
   for _, t in ipairs(tensors) do
      if not core.isTensor(t) then expect('comm.version', 'tensors', t, 'tensor') end
      sum = sum + core.writes(t)
   end
   return sum
end

--- Returns the number of bytes copied between devices since the start of the process.
-- @function comm.copied
-- @as comm
-- @return a number
-- @usage local x, copied = torch.CudaTensor(10):fill(1), require('dpt').comm.copied
--    local before = copied()
--    cutorch.withDevice(2, function() torch.CudaTensor(10):copy(x) end)
--    return copied() - before --> 40
function comm.copied() return tonumber(C.dpt_copied_bytes()) end

--- Calls f(...) and adds the number of bytes that it copied between devices to counts[name].
-- @function comm.count
-- @as comm
-- @param counts table: name -> number
-- @param name string: the key of the number to increase
-- @param f function: the function to call
-- @param ...? any: arguments of f
-- @return nothing
-- @usage local counts = {bytes = 0}
--    require('dpt').comm.count(counts, 'bytes', function() end)
--    return counts --> {bytes=0}
function comm.count(counts, name, f, ...)
   expect('comm.count', 'counts', counts, 'table')
   expect('comm.count', 'counts[name]', counts[name], 'number')
   expect('comm.count', 'f', f, 'callable')
   local before = comm.copied()
   f(...)
   counts[name] = counts[name] + comm.copied() - before
end

--- Copies sources[k] to destinations[k], destinations[n + k], destinations[2 n + k] ..., n =
-- #sources.
-- @function comm.broadcastInto
-- @as comm
-- @param sources table: a list of n tensors
-- @param destinations table: a list of n, 2 n ... tensors like them
-- @return nothing
-- @usage local a, b = torch.CudaTensor(2):fill(4), torch.CudaTensor(2)
--    require('dpt').comm.broadcastInto({a}, {b})
--    return b --> [4 4]
function comm.broadcastInto(sources, destinations)
   expect('broadcastInto', 'sources', sources, 'table')
   expect('broadcastInto', 'destinations', destinations, 'table')
   local n = #sources
   if n == 0 then return end
   lib.comm_broadcast(n, constant(sources, n), #destinations / n,
      pointers(destinations, #destinations))
end

--- Computes destinations[k] = destinations[k] + sources[k] + sources[n + k] + ..., n =
-- #destinations.
-- @function comm.reduceInto
-- @as comm
-- @param destinations table: a list of n tensors
-- @param sources table: a list of n, 2 n ... tensors like them
-- @param clear? boolean: true: sets the sources to zero afterwards
-- @return nothing
-- @usage local a, b = torch.CudaTensor{1}, torch.CudaTensor{2}
--    require('dpt').comm.reduceInto({a}, {b}, true)
--    return a, b --> [3], [0]
function comm.reduceInto(destinations, sources, clear)
   expect('reduceInto', 'destinations', destinations, 'table')
   expect('reduceInto', 'sources', sources, 'table')
   local n = #destinations
   if n == 0 then return end
   lib.comm_reduce(n, pointers(destinations, n), #sources / n, pointers(sources, #sources), 1,
      clear and 1 or 0)
end

--- Splits a tensor along a dimension into the given tensors, which are resized.
-- @function comm.scatterInto
-- @as comm
-- @param parts table: the tensors that receive the parts
-- @param tensor tensor: the tensor to split; on the host or a device
-- @param dimension number: the dimension to split
-- @param rows table: the size of each part along the dimension
-- @param devices table: devices of parts that have no memory yet; 0 is the host
-- @return nothing
-- @usage local a, b = torch.CudaTensor(), torch.CudaTensor()
--    require('dpt').comm.scatterInto({a, b}, torch.FloatTensor{1, 2, 3}, 1, {1, 2}, {1,
--       2})
--    return a, b --> [1], [2 3]
function comm.scatterInto(parts, tensor, dimension, rows, devices)
   expect('scatterInto', 'parts', parts, 'table')
   expect('scatterInto', 'rows', rows, 'table')
   dimension = checkInteger('scatterInto', 'dimension', dimension)
   local n = #expect('scatterInto', 'devices', devices, 'table')
   lib.comm_scatter(n, pointers(parts, n), integers('int32_t[?]', devices, n),
      integers('int64_t[?]', rows, n), tensor, dimension - 1)
end

--- Concatenates tensors along a dimension into the given one, which is resized.
-- @function comm.gatherInto
-- @as comm
-- @param result tensor: receives the elements
-- @param tensors table: a list of tensors; empty ones are skipped
-- @param dimension number: the dimension along which they are concatenated
-- @param device number: the device of the result, if it has no memory yet; 0 is the host
-- @return nothing
-- @usage local r = torch.FloatTensor()
--    require('dpt').comm.gatherInto(r, {torch.CudaTensor{1}, torch.CudaTensor{2}}, 1,
--       0)
--    return r --> [1 2]
function comm.gatherInto(result, tensors, dimension, device)
   expect('gatherInto', 'tensors', tensors, 'table')
   dimension = checkInteger('gatherInto', 'dimension', dimension)
   device = checkInteger('gatherInto', 'device', device)
   lib.comm_gather(result, device, #tensors, constant(tensors, #tensors),
      dimension - 1)
end

--- Returns the device type with the same elements ('torch.LongTensor': 'torch.CudaLongTensor').
-- @function comm.deviceType
-- @as comm
-- @param name string: a tensor type, such as 'torch.LongTensor'
-- @return a string
-- @usage require('dpt').comm.deviceType 'torch.LongTensor' --> torch.CudaLongTensor
function comm.deviceType(name)
   expect('comm.deviceType', 'name', name, 'string')
   if name:find('^torch%.Cuda') then return name end
   if name == 'torch.FloatTensor' then return 'torch.CudaTensor' end
   return (name:gsub('^torch%.', 'torch.Cuda'))
end

--- Returns the host type with the same elements.
-- @function comm.hostType
-- @as comm
-- @param name string: a tensor type, such as 'torch.CudaTensor'
-- @return a string
-- @usage require('dpt').comm.hostType 'torch.CudaTensor' --> torch.FloatTensor
function comm.hostType(name)
   expect('comm.hostType', 'name', name, 'string')
   if name == 'torch.CudaTensor' then return 'torch.FloatTensor' end
   return (name:gsub('^torch%.Cuda', 'torch.'))
end

--- Copies a tensor to several devices.
-- @function comm.broadcast
-- @as comm
-- @param tensor tensor: on the first of the devices
-- @param devices table: a list of different device numbers
-- @return a list of tensors; the first is the tensor itself
-- @usage local l = require('dpt').comm.broadcast(torch.CudaTensor{5}, {1, 2})
--    return l[2], l[2]:getDevice() --> [5], 2
function comm.broadcast(tensor, devices)
   local results = {}
   for i, list in ipairs(comm.broadcastCoalesced({tensor}, devices)) do results[i] = list[1] end
   return results
end

--- Sums tensors of several devices, in the order of the list.
-- @function comm.reduceAdd
-- @as comm
-- @param inputs table: tensors of one type and size
-- @param destination? number: the device of the sum (the current one)
-- @return a tensor
-- @usage require('dpt').comm.reduceAdd{torch.CudaTensor{1}, torch.CudaTensor{2}} --> [3]
function comm.reduceAdd(inputs, destination)
   lists.checkTensors('reduceAdd', 'inputs', inputs)
   local all = {}
   for i, t in ipairs(inputs) do all[i] = {t} end
   return comm.reduceAddCoalesced(all, destination)[1]
end

--- Sums tensors, and writes the sum to a tensor on each of their devices.
-- @function comm.allReduce
-- @as comm
-- @param inputs table: tensors of one type and count, each on a different device
-- @param outputs? table: contiguous tensors that receive the sum (the inputs)
-- @return the outputs
-- @usage local a, b = torch.CudaTensor{1}, cutorch.withDevice(2, torch.CudaTensor, {4})
--    require('dpt').comm.allReduce{a, b}
--    return a, b --> [5], [5]
function comm.allReduce(inputs, outputs)
   outputs = outputs or inputs
   lists.checkPairs('allReduce', inputs, outputs)
   local from = lists.contiguous(inputs)
   lib.comm_all_reduce(#inputs, pointers(outputs, #inputs), constant(from, #inputs))
   core.keepAlive(from)
   return outputs
end

--- Splits a tensor into parts on several devices.
-- @function comm.scatter
-- @as comm
-- @param tensor tensor: on the host or a device
-- @param devices table: a list of device numbers
-- @param chunkSizes? table: the size of each part along the dimension (as equal as possible, larger
--    parts first)
-- @param dim? number: the dimension (1)
-- @return a list of device tensors
-- @usage local l = require('dpt').comm.scatter(torch.FloatTensor{1, 2, 3}, {1, 2})
--    return l[1], l[2] --> [1 2], [3]
function comm.scatter(tensor, devices, chunkSizes, dim)
   dim = checkInteger('scatter', 'dim', dim or 1)
   lists.checkTensors('scatter', 'tensor', {tensor})
   lists.checkDevices('scatter', devices)
   if tensor:dim() < dim or dim < 1 then
      fail("scatter: argument 'dim': dimension %d is out of range, wanted 1 to %d as for %s", dim,
         tensor:dim(), core.describeSize(tensor))
   end
   if not chunkSizes then
      local size = tensor:size(dim)
      chunkSizes = {}
      for i = 1, #devices do
         chunkSizes[i] = math.floor(size / #devices) + (i <= size % #devices and 1 or 0)
      end
   elseif #expect('scatter', 'chunkSizes', chunkSizes, 'table') ~= #devices then
      fail("scatter: argument 'chunkSizes': got %d chunk sizes for %d devices", #chunkSizes,
         #devices)
   end
   local parts, new = {}, torch.getmetatable(comm.deviceType(tensor:type())).new
   for i = 1, #devices do parts[i] = new() end
   comm.scatterInto(parts, tensor, dim, chunkSizes, devices)
   return parts
end

--- Concatenates tensors of several devices.
-- @function comm.gather
-- @as comm
-- @param tensors table: a list of tensors
-- @param dim? number: the dimension along which they are concatenated (1)
-- @param destination? number: the device of the result (the current one); 0 is the host
-- @return a tensor
-- @usage require('dpt').comm.gather({torch.CudaTensor{1}, torch.CudaTensor{2, 3}}, 1, 0)
--    --> [1 2 3]
function comm.gather(tensors, dim, destination)
   lists.checkTensors('gather', 'tensors', tensors)
   if #tensors == 0 then
      fail("gather: argument 'tensors' is empty, wanted one tensor at least")
   end
   local typename = tensors[1]:type()
   if destination == 0 then typename = comm.hostType(typename) end
   local result = torch.getmetatable(typename).new()
   comm.gatherInto(result, tensors, dim or 1, destination or cutorch.getDevice())
   return result
end

--- Common properties of the functions of dpt.comm, for the reference.
-- @pattern comm
-- @within comm
-- @follows PyTorch's torch.cuda.comm
-- @raise at the caller's line if an argument has the wrong type, tensors do not fit, or there is
--    no such device

return comm
