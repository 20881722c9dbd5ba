--- dpt.device: cutorch: devices, streams, memory, seeds; returns the table `cutorch`.
--
-- Invariant: devices and streams have Torch7's numbers: devices from 1, streams from 1, with 0 for
-- a device's default stream. The current device and stream are per OS thread. Only synchronize,
-- synchronizeAll, streamSynchronize and emptyCache wait.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local class = require 'dpt.class'
local expect = require 'dpt.class.expect'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local cutorch = {

   --- True: half-precision tensors exist.
   -- @field cutorch.hasHalf
   -- @as cutorch
   -- @return true
   -- @usage cutorch.hasHalf and torch.CudaHalfTensor{1, 2} --> [1 2]
   hasHalf = true,

   --- False: MAGMA is not used; LAPACK's functions are computed on the host.
   -- @field cutorch.magma
   -- @as cutorch
   -- @return false
   -- @usage cutorch.magma --> false
   magma = false,
}
class.packages.cutorch = cutorch

local slot = ffi.new 'int[1]'

--- Returns an argument as an integer.
local function whole(fn, name, v)
   v = core.checkNumber(fn, name, v)
   if v % 1 ~= 0 or v < -2147483648 or v > 2147483647 then
      fail("%s: argument '%s' is %s, wanted a whole number", fn, name, v)
   end
   return v
end

--- Returns a device's number from an optional argument; 0 means the current one.
local function optionalDevice(fn, device)
   if device == nil then return 0 end
   device = whole(fn, 'device', device)
   if device == 0 then -- 0 is the current device in the library only, not for callers
      fail('%s: there is no device 0, wanted 1 to %d', fn, cutorch.getDeviceCount())
   end
   return device
end

-- devices -----------------------------------------------------------------------------------------

function cutorch.getDeviceCount()
   lib.device_count(slot)
   return slot[0]
end

--- Returns the current device of this thread, from 1.
function cutorch.getDevice()
   lib.device_get(slot)
   return slot[0]
end

--- Sets the device on which new tensors are allocated. Operations run where their operands are.
function cutorch.setDevice(device)
   lib.device_set(whole('setDevice', 'device', device))
end

local function restore(device, ok, ...)
   cutorch.setDevice(device)
   if ok then return ... end
   return error(..., 0)
end

--- Calls f(...) with another current device, and returns the results of f. The previous device is
-- restored even if f raises.
function cutorch.withDevice(device, f, ...)
   local before = cutorch.getDevice()
   expect('withDevice', 'f', f, 'callable')
   cutorch.setDevice(device)
   return restore(before, pcall(f, ...))
end

--- Calls f(...) with a tensor's device as the current one, and returns the results of f. A host
-- tensor changes nothing.
function cutorch.withDeviceOf(tensor, f, ...)
   local device = C.dpt_tensor_device(expect('withDeviceOf', 'tensor', tensor, 'tensor'))
   expect('withDeviceOf', 'f', f, 'callable')
   if device == 0 or device == cutorch.getDevice() then return f(...) end
   return cutorch.withDevice(device, f, ...)
end

--- Waits for all work on the current device; raises the error of failed work.
function cutorch.synchronize() lib.device_synchronize(0) end

--- Waits for all work on all devices.
function cutorch.synchronizeAll() lib.device_synchronize(-1) end

-- CUDA's names of the library's fields. Properties that only a GPU has are 0 on a host device.
local propertyNames = {
   multiProcessorCount = 'threads', major = 'major', minor = 'minor', integrated = 'integrated',
   deviceOverlap = 'overlap', computeMode = 'compute_mode', canMapHostMemory = 'map_host',
   warpSize = 'warp', maxThreadsPerBlock = 'block_threads', clockRate = 'clock',
   kernelExecTimeoutEnabled = 'timeout', maxTexture1D = 'texture',
   maxTexture1DLinear = 'texture_linear', memPitch = 'pitch', pciBusID = 'pci_bus',
   pciDeviceID = 'pci_device', pciDomainID = 'pci_domain', regsPerBlock = 'block_registers',
   sharedMemPerBlock = 'block_shared', textureAlignment = 'texture_alignment',
   totalConstMem = 'constant',
}

--- Returns the properties of a device under CUDA's names. A host device consists of CPU threads;
-- its multiprocessors are the threads that it computes with.
function cutorch.getDeviceProperties(device)
   local info = ffi.new 'dpt_device_info'
   lib.device_properties(optionalDevice('getDeviceProperties', device), info)
   local properties = {name = ffi.string(info.name)}
   properties.freeGlobalMem, properties.totalGlobalMem = cutorch.getMemoryUsage(device)
   for name, field in pairs(propertyNames) do properties[name] = tonumber(info[field]) end
   return properties
end

-- Returns a device's number; 0 is the current device in the library only, not for callers.
local function peer(fn, name, device)
   device = whole(fn, name, device)
   return device == 0 and -1 or device
end

--- Returns true if a device can access another's memory and a script has not disabled that.
-- @function cutorch.getPeerToPeerAccess
-- @as cutorch
-- @param from number: the device that reads
-- @param to number: the device whose memory is read
-- @return a boolean
-- @usage cutorch.setPeerToPeerAccess(1, 2, false)
--    local to, from = cutorch.getPeerToPeerAccess(1, 2), cutorch.getPeerToPeerAccess(2, 1)
--    cutorch.setPeerToPeerAccess(1, 2, true)
--    return to, from --> false, true
function cutorch.getPeerToPeerAccess(from, to)
   local fn = 'getPeerToPeerAccess'
   lib.peer_get(peer(fn, 'from', from), peer(fn, 'to', to), slot)
   return slot[0] ~= 0
end

--- Enables or disables a device's access to another's memory. Without access, copies between the
-- two devices go through host memory.
-- @function cutorch.setPeerToPeerAccess
-- @as cutorch
-- @param from number: the device that reads
-- @param to number: the device whose memory is read
-- @param on boolean: true enables access
-- @return nothing
-- @usage cutorch.setPeerToPeerAccess(1, 2, false)
--    local may = cutorch.getPeerToPeerAccess(1, 2)
--    cutorch.setPeerToPeerAccess(1, 2, true)
--    return may, cutorch.getPeerToPeerAccess(1, 2) --> false, true
function cutorch.setPeerToPeerAccess(from, to, on)
   local fn = 'setPeerToPeerAccess'
   lib.peer_set(peer(fn, 'from', from), peer(fn, 'to', to), on and 1 or 0)
end

--- Returns true if operations may have operands on different devices.
-- @function cutorch.getKernelPeerToPeerAccess
-- @as cutorch
-- @return a boolean
-- @usage cutorch.getKernelPeerToPeerAccess() --> false
function cutorch.getKernelPeerToPeerAccess() return C.dpt_peer_kernels_get() ~= 0 end

--- Allows operands on different devices, which otherwise are an error. The device of the result
-- then reads the others' memory, which on a GPU is slow. `copy` always works between devices.
-- @function cutorch.setKernelPeerToPeerAccess
-- @as cutorch
-- @param on boolean: true allows them
-- @return nothing
-- @usage local x = cutorch.withDevice(2, torch.CudaTensor, 2):fill(1)
--    cutorch.setKernelPeerToPeerAccess(true)
--    local y = torch.CudaTensor(2):fill(1):add(x)
--    cutorch.setKernelPeerToPeerAccess(false)
--    return y --> [2 2]
function cutorch.setKernelPeerToPeerAccess(on) lib.peer_kernels_set(on and 1 or 0) end

local function versions()
   local driver = ffi.new 'int[1]'
   lib.device_versions(slot, driver)
   return slot[0], driver[0]
end

--- Returns the version of CUDA's runtime library, 13000 for 13.0; 0 on host devices. The field
-- cutorch.runtimeVersion has the same value.
-- @function cutorch.getRuntimeVersion
-- @as cutorch
-- @return a number
-- @usage cutorch.getRuntimeVersion() -- 13000 for CUDA 13.0
function cutorch.getRuntimeVersion() return (versions()) end

--- Returns the version of CUDA that the driver supports; 0 on host devices. The field
-- cutorch.driverVersion has the same value.
-- @function cutorch.getDriverVersion
-- @as cutorch
-- @return a number
-- @usage cutorch.getDriverVersion() -- 13010 for a driver of CUDA 13.1
function cutorch.getDriverVersion() return (select(2, versions())) end
local fields = {runtimeVersion = 'getRuntimeVersion', driverVersion = 'getDriverVersion'}
setmetatable(cutorch, {__index = function(_, name)
   return fields[name] and cutorch[fields[name]]()
end})

local function capability()
   local properties = cutorch.getDeviceProperties()
   return properties.major + properties.minor / 10
end

--- Returns true if the current device has half-precision arithmetic.
-- @function cutorch.hasHalfInstructions
-- @as cutorch
-- @return a boolean
-- @usage type(cutorch.hasHalfInstructions()) --> boolean
function cutorch.hasHalfInstructions() return capability() >= 5.3 end

--- Returns true if the current device computes faster in half precision than in single precision.
-- @function cutorch.hasFastHalfInstructions
-- @as cutorch
-- @return a boolean
-- @usage type(cutorch.hasFastHalfInstructions()) --> boolean
function cutorch.hasFastHalfInstructions()
   local version = capability()
   return version >= 6 and version ~= 6.1
end

-- memory ------------------------------------------------------------------------------------------

--- Returns the bytes of a device (the current one) that this process can still use, including
-- memory in the allocator's cache, and the total.
function cutorch.getMemoryUsage(device)
   local stats = ffi.new 'dpt_memory_stats'
   lib.memory_stats_get(optionalDevice('getMemoryUsage', device), stats)
   return tonumber(stats.left), tonumber(stats.total)
end

--- Returns the statistics of a device's allocator.
-- @return a table of bytes: live, cached (kept for later tensors, or as workspace of kernels), peak
--    (maximum of live), limit (0: none), total; and numbers of allocations: blocks (by storages),
--    segments (from the system)
function cutorch.memoryStats(device)
   local stats = ffi.new 'dpt_memory_stats'
   lib.memory_stats_get(optionalDevice('memoryStats', device), stats)
   local result = {}
   for _, name in ipairs{'live', 'cached', 'peak', 'limit', 'total', 'blocks', 'segments'} do
      result[name] = tonumber(stats[name])
   end
   return result
end

--- Resets the peak of live memory to the current value.
function cutorch.resetPeakMemory(device)
   lib.memory_peak_reset(optionalDevice('resetPeakMemory', device))
end

--- Limits the bytes of a device's memory, including cached ones; 0 removes the limit.
function cutorch.setMemoryLimit(device, bytes)
   device = whole('setMemoryLimit', 'device', device)
   bytes = core.checkNumber('setMemoryLimit', 'bytes', bytes)
   if not (bytes >= 0 and bytes < 2 ^ 62) then
      fail("setMemoryLimit: argument 'bytes' is %s, wanted 0 (no limit) or more", bytes)
   end
   lib.memory_limit_set(device == 0 and -1 or device, bytes)
end

--- Returns a device's cached memory (of all devices without an argument) to the system; waits for
-- work that still uses the memory.
function cutorch.emptyCache(device)
   if device ~= nil then return lib.memory_empty_cache(optionalDevice('emptyCache', device)) end
   for i = 1, cutorch.getDeviceCount() do lib.memory_empty_cache(i) end
end

--- Returns true if freed memory is kept for later tensors, which it is unless DPT_CACHE=off.
-- @function cutorch.isCachingAllocatorEnabled
-- @as cutorch
-- @return a boolean
-- @usage type(cutorch.isCachingAllocatorEnabled()) --> boolean
function cutorch.isCachingAllocatorEnabled() return C.dpt_memory_cached() ~= 0 end

-- Returns a tensor in page-locked host memory, for which copyAsync need not wait.
local storageSlot = ffi.new 'dpt_storage *[1]'
local function newPinned(fn, kind, ...)
   if type((...)) == 'table' then return newPinned(fn, kind, unpack((...))) end
   local n, count = sizes.read(fn, ...), 1
   for i = 0, n - 1 do count = count * sizes.size[i] end
   local t = core.fresh(kind)
   storageSlot[0] = nil
   lib.storage_new_pinned(storageSlot, kind, n == 0 and 0 or count)
   local status = C.dpt_set_storage(t, storageSlot[0], 0, n, sizes.size, nil)
   C.dpt_storage_release(storageSlot[0])
   if status ~= 0 then dptffi.raiseMessage() end
   return t
end

core.eachKind(function(kind)
   if kind >= core.ON_DEVICE then return end
   local fn = 'createCudaHost' .. core.names[kind] .. 'Tensor'
   cutorch[fn] = function(...) return newPinned(fn, kind, ...) end
end)

--- Returns a FloatTensor in page-locked host memory, for which copyAsync need not wait. The names
-- with a type return tensors of that type.
-- @function cutorch.createCudaHostTensor
-- @as cutorch
-- @also cutorch.createCudaHostByteTensor()
-- @also cutorch.createCudaHostCharTensor()
-- @also cutorch.createCudaHostShortTensor()
-- @also cutorch.createCudaHostIntTensor()
-- @also cutorch.createCudaHostLongTensor()
-- @also cutorch.createCudaHostHalfTensor()
-- @also cutorch.createCudaHostBFloat16Tensor()
-- @also cutorch.createCudaHostFloatTensor()
-- @also cutorch.createCudaHostDoubleTensor()
-- @param sizes number: one for each dimension; or a list or a LongStorage
-- @return a host tensor
-- @usage cutorch.createCudaHostIntTensor(2):fill(3) --> [3 3]
function cutorch.createCudaHostTensor(...)
   return newPinned('createCudaHostTensor', core.FLOAT, ...)
end

require('dpt.device.streams')(cutorch, whole)
require('dpt.device.names')(cutorch, whole)
require('dpt.device.graph')(cutorch)
require('dpt.device.generators')(cutorch, optionalDevice)

--- Common properties of the functions of cutorch, for the reference.
-- @pattern cutorch
-- @within cutorch
-- @raise if there is no such device, with the devices that exist; errors of queued work are raised
--    by the call that waits for it
-- @follows Torch7's cutorch; memory statistics PyTorch's torch.cuda

--- Returns the number of devices.
-- @function cutorch.getDeviceCount
-- @as cutorch
-- @return a number
-- @usage cutorch.getDeviceCount() -- 2, if DPT_DEVICES is host:2

--- Returns the current device of this thread.
-- @function cutorch.getDevice
-- @as cutorch
-- @return a number, from 1 on
-- @usage cutorch.getDevice() --> 1

--- Sets the device on which new tensors are allocated; operations run where their operands are.
-- @function cutorch.setDevice
-- @as cutorch
-- @param device number: from 1 on
-- @return nothing
-- @usage cutorch.setDevice(1) return cutorch.getDevice() --> 1

--- Calls a function with another device as the current one.
-- @function cutorch.withDevice
-- @as cutorch
-- @param device number: from 1 on
-- @param f function: the function to call
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage cutorch.withDevice(1, function(x) return x + 1 end, 4) --> 5

--- Calls a function with the device of a tensor as the current one. The previous device is restored
-- even if the function raises. A tensor in host memory changes nothing.
-- @function cutorch.withDeviceOf
-- @as cutorch
-- @follows PyTorch's torch.cuda.device_of
-- @param tensor tensor: of any type
-- @param f function: the function to call
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage local t = torch.CudaTensor{1, 2}
--    return cutorch.withDeviceOf(t, t.clone, t) --> [1 2]

--- Waits for all work on the current device, and raises its errors.
-- @function cutorch.synchronize
-- @as cutorch
-- @return nothing
-- @usage local t = torch.CudaTensor(2):fill(3)
--    cutorch.synchronize()
--    return t --> [3 3]

--- Waits for all work on all devices.
-- @function cutorch.synchronizeAll
-- @as cutorch
-- @return nothing
-- @usage local t = torch.CudaTensor(1):fill(4)
--    cutorch.synchronizeAll()
--    return t --> [4]

--- Returns the properties of a device.
-- @function cutorch.getDeviceProperties
-- @as cutorch
-- @param device? number: from 1 on (the current one)
-- @return a table with name, totalGlobalMem, major, minor ...
-- @usage type(cutorch.getDeviceProperties(1).name) --> string

--- Returns the free and the total memory of a device.
-- @function cutorch.getMemoryUsage
-- @as cutorch
-- @param device? number: from 1 on (the current one)
-- @return free and total bytes
-- @usage local free, total = cutorch.getMemoryUsage(1)
--    return free / total -- 0.9, say

--- Returns statistics of this process's memory on a device.
-- @function cutorch.memoryStats
-- @as cutorch
-- @param device? number: from 1 on (the current one)
-- @return a table of bytes and counts
-- @usage type(cutorch.memoryStats(1)) --> table

--- Resets the peak of the memory statistics to the current value.
-- @function cutorch.resetPeakMemory
-- @as cutorch
-- @param device? number: from 1 on (the current one)
-- @return nothing
-- @usage cutorch.resetPeakMemory(1)
--    local stats = cutorch.memoryStats(1)
--    return stats.peak - stats.live --> 0

--- Limits the memory of a device.
-- @function cutorch.setMemoryLimit
-- @as cutorch
-- @param device number: from 1 on
-- @param bytes number: 0: no limit
-- @return nothing
-- @usage cutorch.setMemoryLimit(1, 1e6)
--    local _, why = pcall(torch.CudaTensor, 1e9)
--    cutorch.setMemoryLimit(1, 0)
--    return why:match 'the limit.*' --> the limit is 1000000

--- Returns cached memory to the system.
-- @function cutorch.emptyCache
-- @as cutorch
-- @param device? number: from 1 on (the current one)
-- @return nothing
-- @usage cutorch.emptyCache()
--    return cutorch.memoryStats().cached -- 0, unless tensors hold a part of a block

return cutorch
