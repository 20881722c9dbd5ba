--- dpt.comm.nccl: the result of `require 'nccl'`: nccl.torch's functions over dpt's transports.
--
-- Invariant: a list holds one tensor for each of several devices, all of one element type, which
-- may be any. A root is an index in a list, from 1. A function returns when the work is done; with
-- `async` it returns when the work is queued on the current streams. NCCL itself is optional:
-- dpt.comm.setTransport chooses the transport, here as in dpt.comm.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local comm = require 'dpt.comm'
local lists = require 'dpt.comm.lists'
local expect = require 'dpt.class.expect'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local nccl = {}

-- Waits for the current stream of every tensor's device.
local function finish(tensors, async)
   if async then return end
   for _, t in ipairs(tensors) do
      cutorch.withDevice(C.dpt_tensor_device(t), function()
         cutorch.streamSynchronize(cutorch.getStream())
      end)
   end
end

local function checkRoot(name, root, count)
   root = root or 1
   if type(root) ~= 'number' or root % 1 ~= 0 or root < 1 or root > count then
      fail('%s: root is %s, wanted one of the %d tensors, from 1', name, tostring(root), count)
   end
   return root
end

-- Returns the devices of the tensors, each once.
local function devicesOf(name, tensors)
   lists.checkPairs(name, tensors, tensors)
   local devices = {}
   for i, t in ipairs(tensors) do
      devices[i] = C.dpt_tensor_device(t)
      lists.checkDevice(name, {t}, devices[i])
   end
   lists.checkDevices(name, devices, true)
   return devices
end

--- Sums all inputs, and writes the sum to each output on its device.
-- @function nccl.allReduce
-- @as nccl
-- @param inputs table: a tensor for each device
-- @param outputs? table: a tensor for each device (the inputs)
-- @param async? boolean: true: does not wait
-- @return nothing
-- @usage local a, b = torch.CudaTensor{1}, cutorch.withDevice(2, torch.CudaTensor, {2})
--    nccl.allReduce{a, b}
--    return b --> [3]
function nccl.allReduce(inputs, outputs, async)
   comm.allReduce(inputs, outputs)
   finish(inputs, async)
end

--- Sums all inputs, and writes the sum to the root's output.
-- @function nccl.reduce
-- @as nccl
-- @param inputs table: a tensor for each device
-- @param outputs? table: a tensor for each device (the inputs); only the root's is used
-- @param async? boolean: true: does not wait
-- @param root? number: index of the root in the list (1)
-- @return nothing
-- @usage local a, b = torch.CudaTensor{1}, cutorch.withDevice(2, torch.CudaTensor, {2})
--    nccl.reduce({a, b}, nil, false, 2)
--    return a, b --> [1], [3]
function nccl.reduce(inputs, outputs, async, root)
   local devices = devicesOf('reduce', inputs)
   if outputs then expect('reduce', 'outputs', outputs, 'table') end
   root = checkRoot('reduce', root, #inputs)
   local output = (outputs or inputs)[root]
   if not core.isTensor(output) then
      fail("reduce: argument 'outputs' has no output %d, that of the root", root)
   end
   lists.checkDevice('reduce', {output}, devices[root])
   local from = lists.contiguous(inputs)
   lib.comm_reduce(1, lists.pointers({output}, 1), #from, lists.pointers(from, #from), 0, 0)
   core.keepAlive(from)
   finish(inputs, async)
end

--- Copies the root's input to all inputs.
-- @function nccl.bcast
-- @as nccl
-- @param inputs table: a tensor for each device
-- @param async? boolean: true: does not wait
-- @param root? number: index of the root in the list (1)
-- @return nothing
-- @usage local a, b = torch.CudaTensor{7}, cutorch.withDevice(2, torch.CudaTensor, {2})
--    nccl.bcast{a, b}
--    return b --> [7]
function nccl.bcast(inputs, async, root)
   devicesOf('bcast', inputs)
   root = checkRoot('bcast', root, #inputs)
   local others = {}
   for i, t in ipairs(inputs) do
      if i ~= root then others[#others + 1] = t end
   end
   local from = lists.contiguous{inputs[root]}
   comm.broadcastInto(from, others)
   core.keepAlive(from)
   finish(inputs, async)
end

--- Concatenates all inputs, and writes the result to each output.
-- @function nccl.allGather
-- @as nccl
-- @param inputs table: a tensor for each device
-- @param outputs table: a tensor for each device, each with space for all inputs or without
--    elements
-- @param async? boolean: true: does not wait
-- @return nothing
-- @usage local a, b = torch.CudaTensor{1}, cutorch.withDevice(2, torch.CudaTensor, {2})
--    local r, s = torch.CudaTensor(), cutorch.withDevice(2, torch.CudaTensor)
--    nccl.allGather({a, b}, {r, s})
--    return s --> [1 2]
function nccl.allGather(inputs, outputs, async)
   local devices = devicesOf('allGather', inputs)
   lists.checkPairs('allGather', inputs, outputs)
   local count = 0
   for _, t in ipairs(inputs) do count = count + t:nElement() end
   for i, t in ipairs(outputs) do
      if t:nElement() == 0 then cutorch.withDevice(devices[i], t.resize, t, count) end
   end
   local from = lists.contiguous(inputs)
   lib.comm_all_gather(#from, lists.pointers(outputs, #from), lists.constant(from, #from))
   core.keepAlive(from)
   finish(inputs, async)
end

--- Sums all inputs, and scatters the sum: each output receives a part.
-- @function nccl.reduceScatter
-- @as nccl
-- @param inputs table: a tensor for each device
-- @param outputs table: a tensor for each device, each as long as its part
-- @param async? boolean: true: does not wait
-- @return nothing
-- @usage local a, b = torch.CudaTensor{1, 2}, cutorch.withDevice(2, torch.CudaTensor, {10,
--       20})
--    local r, s = torch.CudaTensor(1), cutorch.withDevice(2, torch.CudaTensor, 1)
--    nccl.reduceScatter({a, b}, {r, s})
--    return r, s --> [11], [22]
function nccl.reduceScatter(inputs, outputs, async)
   devicesOf('reduceScatter', inputs)
   lists.checkPairs('reduceScatter', inputs, outputs)
   local from = lists.contiguous(inputs)
   lib.comm_reduce_scatter(#from, lists.pointers(outputs, #from), lists.constant(from, #from))
   core.keepAlive(from)
   finish(inputs, async)
end

--- Common properties of the functions of nccl, for the reference.
-- @pattern nccl
-- @within comm
-- @follows nccl.torch
-- @raise unless the tensors are one for each of several devices, all of the same element type

return nccl
