--- dpt.comm.coalesce: sends many tensors as few buffers, with the semantics of PyTorch.
--
-- Invariant: a buffer holds tensors of one type in their order, and at most the requested number of
-- bytes, but at least one tensor. The elements are copied directly from their tensors into buffers
-- on the receiving devices. Results are views of those buffers, made while the copies run.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local lists = require 'dpt.comm.lists'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local coalesce = {}

--- Default size of a buffer in bytes: 10 MiB.
-- @field comm.BUFFER
-- @as comm
-- @return a number
-- @usage require('dpt').comm.BUFFER --> 1.049e+07
coalesce.BUFFER = 10485760

local function checkLimit(name, argument, limit)
   if limit == nil then return coalesce.BUFFER end
   if type(limit) ~= 'number' or limit ~= limit then
      fail("%s: argument '%s' is of type %s, wanted a number of bytes", name, argument,
         torch.type(limit))
   end
   return limit
end

-- Assigns tensors to buffers. Returns a list of {kind = kind of the tensors, count = number of
-- elements, bytes = their total size, [k] = index of the k-th tensor}: full buffers in the order in
-- which they were filled, then the others in the order of the first tensor of their type.
local function groupByLimit(tensors, limit)
   local full, open, order = {}, {}, {}
   for i = 1, #tensors do
      local t = tensors[i]
      local kind, count = t.kind_, tonumber(C.dpt_count(t))
      local bytes = count * core.elementSizes[kind]
      local chunk = open[kind]
      if not chunk then order[#order + 1] = kind end
      if chunk and chunk.bytes > 0 and chunk.bytes + bytes > limit then
         full[#full + 1] = chunk
         chunk = nil
      end
      if not chunk then
         chunk = {kind = kind, count = 0, bytes = 0}
         open[kind] = chunk
      end
      chunk[#chunk + 1] = i
      chunk.count, chunk.bytes = chunk.count + count, chunk.bytes + bytes
   end
   for _, kind in ipairs(order) do full[#full + 1] = open[kind] end
   return full
end

--- Groups tensors by type into lists of at most sizeLimit bytes, but of at least one tensor.
-- @function comm.takeTensors
-- @as comm
-- @follows PyTorch's torch._utils._take_tensors
-- @param tensors table: a list of tensors
-- @param sizeLimit? number: bytes (10 MiB)
-- @return a list of lists of tensors
-- @usage #require('dpt').comm.takeTensors({torch.Tensor(4), torch.Tensor(4),
--       torch.IntTensor(1)}, 64) --> 2
function coalesce.takeTensors(tensors, sizeLimit)
   lists.checkTensors('takeTensors', 'tensors', tensors)
   local limit, result = checkLimit('takeTensors', 'sizeLimit', sizeLimit), {}
   for i, chunk in ipairs(groupByLimit(tensors, limit)) do
      result[i] = {}
      for k, index in ipairs(chunk) do result[i][k] = tensors[index] end
   end
   return result
end

-- Writes views of the chunk's flat tensor with the sizes of the models into results, at their
-- indices.
local function writeViews(flat, chunk, models, results)
   local first = tonumber(flat.offset_)
   for k = 1, #chunk do
      local model, view = models[chunk[k]], core.tensor(flat.kind_)
      if model.ndim_ > 0 then
         if C.dpt_set_storage(view, flat.storage_, first, model.ndim_, model.size_, nil) ~= 0 then
            dptffi.raiseMessage()
         end
         first = first + tonumber(C.dpt_count(model))
      end
      results[chunk[k]] = view
   end
   core.keepAlive(flat, models)
end

-- Appends the chunk's tensors that have elements to a list, as contiguous tensors.
local function addNonEmpty(nonEmpty, tensors, chunk)
   local n = #nonEmpty
   for k = 1, #chunk do
      local t = tensors[chunk[k]]
      if C.dpt_count(t) > 0 then
         n = n + 1
         nonEmpty[n] = C.dpt_is_contiguous(t) ~= 0 and t or t:contiguous()
      end
   end
   return n
end

-- Allocates a flat tensor for each chunk on the current device.
local function allocateFlats(chunks)
   local result = {}
   for i, chunk in ipairs(chunks) do
      result[i] = chunk.count > 0 and core.newTensor(chunk.kind, chunk.count)
         or core.tensor(chunk.kind)
   end
   return result
end

local function asOneChunk(tensors)
   local chunk = {kind = tensors[1].kind_, count = 0}
   for i = 1, #tensors do
      local t = tensors[i]
      if t.kind_ ~= chunk.kind then
         fail('flatten: tensor %d is a %s, wanted a %s like tensor 1', i, t:type(),
            tensors[1]:type())
      end
      chunk[i], chunk.count = i, chunk.count + tonumber(C.dpt_count(t))
   end
   return chunk
end

--- Joins tensors of one type and device into one vector; a single contiguous tensor is not copied.
-- @function comm.flatten
-- @as comm
-- @follows PyTorch's torch._utils._flatten_dense_tensors
-- @param tensors table: a list of tensors
-- @return a vector
-- @usage require('dpt').comm.flatten{torch.Tensor{1}, torch.Tensor{{2, 3}}} --> [1 2 3]
function coalesce.flatten(tensors)
   lists.checkTensors('flatten', 'tensors', tensors)
   if #tensors == 0 then
      fail("flatten: argument 'tensors' is empty, wanted one tensor at least")
   end
   local chunk = asOneChunk(tensors)
   if chunk.count == 0 then return core.tensor(chunk.kind) end
   if #tensors == 1 then return tensors[1]:contiguous():view(-1) end
   if chunk.kind < core.ON_DEVICE then
      local flat, first = core.newTensor(chunk.kind, chunk.count), 1
      for _, t in ipairs(tensors) do
         local n = t:nElement()
         if n > 0 then flat:narrow(1, first, n):copy(t) end
         first = first + n
      end
      return flat
   end
   local nonEmpty = {}
   local n = addNonEmpty(nonEmpty, tensors, chunk)
   local device = C.dpt_tensor_device(nonEmpty[1])
   lists.checkDevice('flatten', tensors, device)
   local flat = cutorch.withDevice(device, core.newTensor, chunk.kind, chunk.count)
   lib.comm_broadcast_flat(n, lists.constant(nonEmpty, n), 1, lists.pointers({flat}, 1))
   core.keepAlive(nonEmpty)
   return flat
end

--- Returns the parts of a vector as views with the sizes of other tensors.
-- @function comm.unflatten
-- @as comm
-- @follows PyTorch's torch._utils._unflatten_dense_tensors
-- @param flat tensor: a vector with as many elements as the tensors have
-- @param tensors table: a list of tensors
-- @return a list of tensors
-- @usage require('dpt').comm.unflatten(torch.Tensor{1, 2, 3}, {torch.Tensor(1),
--       torch.Tensor(2)})[2] --> [2 3]
function coalesce.unflatten(flat, tensors)
   lists.checkTensors('unflatten', 'tensors', tensors)
   lists.checkTensors('unflatten', 'flat', {flat})
   local count, chunk, result = 0, {}, {}
   for i, t in ipairs(tensors) do chunk[i], count = i, count + t:nElement() end
   if flat:nElement() ~= count or not flat:isContiguous() then
      fail("unflatten: argument 'flat' is a %s%s, wanted a contiguous tensor of %d elements, as"
         .. " many as 'tensors' have", core.describeSize(flat),
         flat:isContiguous() and '' or ', not contiguous', count)
   end
   writeViews(flat, chunk, tensors, result)
   return result
end

--- Copies a list of tensors to several devices, in few large buffers.
-- @function comm.broadcastCoalesced
-- @as comm
-- @param tensors table: on the first of the devices, of any types and sizes
-- @param devices table: a list of different device numbers
-- @param bufferSize? number: bytes sent at a time (10 MiB)
-- @return a list of tensors for every device; the first is the tensors themselves
-- @usage require('dpt').comm.broadcastCoalesced({torch.CudaTensor{1}, torch.CudaTensor{2}},
--       {1, 2})[2][2] --> [2]
function coalesce.broadcastCoalesced(tensors, devices, bufferSize)
   lists.checkDevices('broadcastCoalesced', devices, true)
   lists.checkDevice('broadcastCoalesced', tensors, devices[1])
   local chunks = groupByLimit(tensors, checkLimit('broadcastCoalesced', 'bufferSize', bufferSize))
   local results, buffers = {tensors}, {}
   for i = 2, #devices do
      results[i], buffers[i] = {}, cutorch.withDevice(devices[i], allocateFlats, chunks)
   end
   for c, chunk in ipairs(chunks) do
      local nonEmpty, out = {}, {}
      local n = addNonEmpty(nonEmpty, tensors, chunk)
      for i = 2, #devices do out[i - 1] = buffers[i][c] end
      if n > 0 and #out > 0 then
         lib.comm_broadcast_flat(n, lists.constant(nonEmpty, n), #out, lists.pointers(out, #out))
      end
      core.keepAlive(nonEmpty, out)
   end
   for i = 2, #devices do
      for c, chunk in ipairs(chunks) do writeViews(buffers[i][c], chunk, tensors, results[i]) end
   end
   return results
end

-- Raises unless the lists of all devices have the same types and sizes.
local function checkAlike(inputs)
   local first = inputs[1]
   for i = 1, #inputs do
      local list, device = inputs[i], 0
      lists.checkTensors('reduceAdd', 'inputs', list)
      if #list ~= #first then
         fail('reduceAdd: input %d has %d tensors, wanted %d as in input 1', i, #list, #first)
      end
      for k = 1, #list do
         local t = list[k]
         if t.kind_ ~= first[k].kind_ or C.dpt_is_same_size(t, first[k]) == 0 then
            fail('reduceAdd: tensor %d of input %d is a %s, wanted a %s as in input 1', k, i,
               core.describeSize(t), core.describeSize(first[k]))
         end
         if device == 0 then device = C.dpt_tensor_device(t) end
      end
      lists.checkDevice('reduceAdd', list, device)
   end
end

--- Sums a list of tensors over devices.
-- @function comm.reduceAddCoalesced
-- @as comm
-- @param inputs table: a list of tensors for every device, equal in types and sizes
-- @param destination? number: the device of the sums (the current one)
-- @param bufferSize? number: bytes sent at a time (10 MiB)
-- @return a list of tensors
-- @usage require('dpt').comm.reduceAddCoalesced({{torch.CudaTensor{1}},
--       {torch.CudaTensor{5}}})[1] --> [6]
function coalesce.reduceAddCoalesced(inputs, destination, bufferSize)
   if type(inputs) ~= 'table' or #inputs == 0 then
      fail("reduceAdd: argument 'inputs' is %s, wanted the tensors of one device at least",
         type(inputs) == 'table' and 'empty' or 'of type ' .. torch.type(inputs))
   end
   checkAlike(inputs)
   local chunks = groupByLimit(inputs[1], checkLimit('reduceAdd', 'bufferSize', bufferSize))
   local buffers = cutorch.withDevice(destination or cutorch.getDevice(), allocateFlats, chunks)
   local sums = {}
   for c, chunk in ipairs(chunks) do
      local nonEmpty, n = {}, 0
      for i = 1, #inputs do n = addNonEmpty(nonEmpty, inputs[i], chunk) end
      if n > 0 then
         lib.comm_reduce_flat(buffers[c], n / #inputs, #inputs, lists.constant(nonEmpty, n))
      end
      core.keepAlive(nonEmpty)
   end
   for c, chunk in ipairs(chunks) do writeViews(buffers[c], chunk, inputs[1], sums) end
   return sums
end

return coalesce
