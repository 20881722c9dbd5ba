--- dpt.comm: tensors between devices: broadcast, sums, splitting, joining, with PyTorch's meanings.
--
-- What must stay true: nothing here waits (host tensors excepted: they have been read or written on
-- return); sums are taken in the order of their inputs, so the same call gives the same bits. The
-- functions that end in Into fill tensors that are there and are what dpt.parallel is built on; the
-- others make their results. Where many small tensors travel, they travel as few large buffers, of
-- which the results are views.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail

local comm = {}

--- Bytes of a buffer for many tensors where the caller says nothing.
comm.BUFFER = 10485760

-- A C array of pointers to the tensors of a list; the list keeps them alive.
local function pointers(list, count, type)
   local array = ffi.new(type or 'dpt_tensor *[?]', count)
   for i = 1, count do array[i - 1] = list[i] end
   return array
end

local function integers(type, list, count)
   local array = ffi.new(type, count)
   for i = 1, count do array[i - 1] = list[i] end
   return array
end

local constant = 'const dpt_tensor *[?]'

--- Chooses a transport by name ('copy', 'nccl'); where it is not there, says so on stderr, once.
-- @return whether it is there
local told = {}
function comm.use(name)
   if C.dpt_comm_use(name) == 0 then return true end
   if not told[name] then
      told[name] = true
      io.stderr:write('dpt: ', ffi.string(C.dpt_message()), '\n')
   end
   return false
end

--- The name of the transport in use.
function comm.transport() return ffi.string(C.dpt_comm_transport()) end

--- The device of a tensor; 0: host memory or no storage.
function comm.device(tensor) return C.dpt_tensor_device(tensor) end

--- Where a tensor's storage is, as a number; 0 without one.
function comm.address(tensor)
   return tonumber(ffi.cast('uintptr_t', tensor.store_))
end

--- A number that changes when something writes to one of the tensors, and when queued work failed:
-- then copies of them may not have been made.
function comm.version(tensors)
   local sum = tonumber(C.dpt_failures())
   for _, t in ipairs(tensors) do sum = sum + tonumber(C.dpt_storage_writes(t.store_)) end
   return sum
end

--- Calls f(...) and adds the bytes that it let go between devices to counts[name].
function comm.count(counts, name, f, ...)
   local before = C.dpt_copied_bytes()
   f(...)
   counts[name] = counts[name] + tonumber(C.dpt_copied_bytes() - before)
end

--- Copies the list sources into destinations: one or several lists of that length, one after the
-- other.
function comm.broadcastInto(sources, destinations)
   local n = #sources
   if n == 0 then return end
   lib.comm_broadcast(n, pointers(sources, n, constant), #destinations / n,
      pointers(destinations, #destinations))
end

--- destinations[k] = destinations[k] + sources[k] + sources[n + k] + ..., n = #destinations.
-- @param clear whether the sources become zero afterwards
function comm.reduceInto(destinations, sources, clear)
   local n = #destinations
   if n == 0 then return end
   lib.comm_reduce(n, pointers(destinations, n), #sources / n, pointers(sources, #sources), 1,
      clear and 1 or 0)
end

--- Cuts a tensor along a dimension into the given tensors, which are resized.
-- @param rows how many of the dimension each gets
-- @param devices where those lie that have no memory yet; 0 is the host
function comm.scatterInto(parts, tensor, dimension, rows, devices)
   local n = #devices
   lib.comm_scatter(n, pointers(parts, n), integers('int32_t[?]', devices, n),
      integers('int64_t[?]', rows, n), tensor, dimension - 1)
end

--- Joins tensors (empty ones are skipped) along a dimension into the given one, which is resized.
-- @param device where it lies if it has no memory yet; 0 is the host
function comm.gatherInto(result, tensors, dimension, device)
   lib.comm_gather(result, device, #tensors, pointers(tensors, #tensors, constant),
      dimension - 1)
end

--- The type of the same elements on a device ('torch.LongTensor': 'torch.CudaLongTensor').
function comm.deviceType(name)
   if name:find('^torch%.Cuda') then return name end
   if name == 'torch.FloatTensor' then return 'torch.CudaTensor' end
   return (name:gsub('^torch%.', 'torch.Cuda'))
end

--- The type of the same elements in host memory.
function comm.hostType(name)
   if name == 'torch.CudaTensor' then return 'torch.FloatTensor' end
   return (name:gsub('^torch%.Cuda', 'torch.'))
end

-- Raises where a tensor of the list is not on the device that it should be on.
local function check(name, tensors, device)
   for i, t in ipairs(tensors) do
      if not torch.isTensor(t) then
         fail('%s: entry %d is a %s, wanted a device tensor', name, i, torch.type(t))
      end
      local where = C.dpt_tensor_device(t)
      if not t:type():find('^torch%.Cuda') then
         fail('%s: entry %d is a %s in host memory, wanted a device tensor: copy it to device %d'
            .. ' first', name, i, t:type(), device)
      elseif t:nElement() > 0 and where ~= device then
         fail('%s: entry %d is on device %d, wanted device %d', name, i, where, device)
      end
   end
end

--- Groups tensors by element type, in order, into lists of at most `limit` bytes (at least one
-- tensor).
-- @return list of {type = name, bytes = sum, [k] = place in tensors}
function comm.takeTensors(tensors, limit)
   local chunks, open = {}, {}
   for i, t in ipairs(tensors) do
      local name, bytes = t:type(), t:nElement() * t:elementSize()
      local chunk = open[name]
      if not chunk or chunk.bytes + bytes > limit then
         chunk = {type = name, bytes = 0}
         open[name] = chunk
         chunks[#chunks + 1] = chunk
      end
      chunk[#chunk + 1] = i
      chunk.bytes = chunk.bytes + bytes
   end
   return chunks
end

-- New tensors like those of the list on the current device, views of one buffer for each chunk.
local function likeAll(tensors, chunks)
   local result = {}
   for _, chunk in ipairs(chunks) do
      local new = torch.getmetatable(chunk.type).new
      local count = 0
      for _, i in ipairs(chunk) do count = count + tensors[i]:nElement() end
      local buffer, first = count > 0 and new(count) or new(), 1
      for _, i in ipairs(chunk) do
         local n = tensors[i]:nElement()
         result[i] = n > 0 and new():set(buffer:storage(), first, tensors[i]:size()) or new()
         first = first + n
      end
   end
   return result
end

-- The lists without their empty tensors, the others contiguous: what takes part in a copy.
local function filled(lists)
   local all = {}
   for _, list in ipairs(lists) do
      for _, t in ipairs(list) do
         if t:nElement() > 0 then all[#all + 1] = t:contiguous() end
      end
   end
   return all
end

--- Copies of a list of tensors on several devices.
-- @param tensors on devices[1]
-- @param devices list of device numbers
-- @param bufferSize bytes that travel at once (10 MiB)
-- @return one list for every device; the first is the tensors themselves
function comm.broadcastCoalesced(tensors, devices, bufferSize)
   check('broadcastCoalesced', tensors, devices[1])
   local chunks = comm.takeTensors(tensors, bufferSize or comm.BUFFER)
   local results, copies = {tensors}, {}
   for i = 2, #devices do
      results[i] = cutorch.withDevice(devices[i], likeAll, tensors, chunks)
      copies[i - 1] = results[i]
   end
   if #copies > 0 then comm.broadcastInto(filled{tensors}, filled(copies)) end
   return results
end

--- Copies of a tensor on several devices.
-- @return a list; the first is the tensor itself, which is on devices[1]
function comm.broadcast(tensor, devices)
   local results = {}
   for i, list in ipairs(comm.broadcastCoalesced({tensor}, devices)) do results[i] = list[1] end
   return results
end

--- Sums over devices of a list of tensors.
-- @param inputs one list of tensors for every device, alike in form
-- @param destination the device of the sums (the current one)
-- @param bufferSize bytes that travel at once (10 MiB)
-- @return the list of sums, in the order of inputs
function comm.reduceAddCoalesced(inputs, destination, bufferSize)
   destination = destination or cutorch.getDevice()
   if #inputs == 0 then fail('reduceAdd: wants inputs of one device at least, got none') end
   for i, list in ipairs(inputs) do
      if #list ~= #inputs[1] then
         fail('reduceAdd: input %d has %d tensors, wanted %d as in input 1', i, #list, #inputs[1])
      end
      for k, t in ipairs(list) do
         local first = inputs[1][k]
         if not (torch.isTensor(t) and t:type() == first:type() and t:isSameSizeAs(first)) then
            fail('reduceAdd: tensor %d of input %d is not like that of input 1 (%s)', k, i,
               first:type())
         end
      end
      check('reduceAdd', list, #list > 0 and C.dpt_tensor_device(list[1]) or 0)
   end
   local chunks = comm.takeTensors(inputs[1], bufferSize or comm.BUFFER)
   local sums = cutorch.withDevice(destination, likeAll, inputs[1], chunks)
   local into, from = filled{sums}, filled(inputs)
   if #into > 0 then
      lib.comm_reduce(#into, pointers(into, #into), #inputs, pointers(from, #from), 0, 0)
   end
   return sums
end

--- The sum of tensors of several devices.
-- @param destination the device of the sum (the current one)
function comm.reduceAdd(inputs, destination)
   local lists = {}
   for i, t in ipairs(inputs) do lists[i] = {t} end
   return comm.reduceAddCoalesced(lists, destination)[1]
end

--- Cuts a tensor of any place into parts on devices.
-- @param chunkSizes how many entries of the dimension each gets (balanced, larger ones first)
-- @param dim the dimension (1)
-- @return list of tensors
function comm.scatter(tensor, devices, chunkSizes, dim)
   dim = dim or 1
   if tensor:dim() < dim or dim < 1 then
      fail('scatter: dimension %d of a %s of %d dimension(s) does not exist', dim, tensor:type(),
         tensor:dim())
   end
   if not chunkSizes then
      local size = tensor:size(dim)
      chunkSizes = {}
      for i = 1, #devices do
         chunkSizes[i] = math.floor(size / #devices) + (i <= size % #devices and 1 or 0)
      end
   elseif #chunkSizes ~= #devices then
      fail('scatter: got %d chunk sizes for %d devices', #chunkSizes, #devices)
   end
   local parts, new = {}, torch.getmetatable(comm.deviceType(tensor:type())).new
   for i = 1, #devices do parts[i] = new() end
   comm.scatterInto(parts, tensor, dim, chunkSizes, devices)
   return parts
end

--- Joins tensors of several devices.
-- @param dim the dimension (1)
-- @param destination the device of the result (the current one); 0 is the host
function comm.gather(tensors, dim, destination)
   if #tensors == 0 then fail('gather: wants one tensor at least, got none') end
   local typename = tensors[1]:type()
   if destination == 0 then typename = comm.hostType(typename) end
   local result = torch.getmetatable(typename).new()
   comm.gatherInto(result, tensors, dim or 1, destination or cutorch.getDevice())
   return result
end

return comm
