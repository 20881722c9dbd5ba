--- dpt.nn.DataParallelTable.files: clones a parallel network, and saves it to and loads it from
-- files.
--
-- Invariant: a clone and a file hold replica 1 only; the others are made when needed. A file has
-- the format of cunn's version 3, which cunn can read. Files of version 1 (all replicas and the
-- dispatcher among the fields) and of versions 2 and 3 (the devices before the fields) load on any
-- set of devices. Files never hold the dispatcher.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local comm = require 'dpt.comm'
local transient = require 'dpt.transient'
local options = require 'dpt.nn.DataParallelTable.options'
local splitSpec = require 'dpt.parallel.split.split_spec'
require 'dpt.parallel.dispatch.threads' -- registers its class: cunn's files hold dispatchers
local dptffi = require 'dpt.ffi'
local fail, lib, type = dptffi.fail, dptffi.lib, dptffi.type

local serial = {}

--- Clones owner by calling plain() on its first device.
function serial.clone(owner, plain)
   owner:_copyStateToFirst()
   local clone = cutorch.withDevice(owner.gpuAssignments[1] or cutorch.getDevice(), plain)
   clone.impl = owner.impl:newFor(clone)
   return clone
end

-- Fields that cunn expects as empty tables.
local EMPTY = {'inputGpu', 'gradOutputGpu', 'outputGpu', 'gradInputGpu'}

--- Writes the devices, followed by the fields.
function serial.write(owner, file)
   owner:_copyStateToFirst()
   local fields = transient.persistentFields(owner)
   fields.typeStr = owner._type
   fields.splitSpec = splitSpec.saved(owner.splitSpec or owner.policy) -- the field's older name
   for _, name in ipairs(EMPTY) do fields[name] = {} end
   fields.flattenedParams = owner.flattenedParams and {owner.flattenedParams[1]}
   file:writeObject(owner.gpuAssignments)
   file:writeObject(fields)
end

-- Returns the devices for a network from a file: the first n if the class's deserializeNGPUs is n;
-- otherwise those of the file's devices that exist here; if there are none, the current device.
local function devicesFor(owner, listed)
   local count, wanted, devices = cutorch.getDeviceCount(), owner.deserializeNGPUs, {}
   lib.device_check(torch.type(owner))
   if wanted then
      if type(wanted) ~= 'number' or wanted % 1 ~= 0 or wanted < 1 or wanted > count then
         fail('%s: deserializeNGPUs is %s, wanted 1 to %d, the number of devices',
            torch.type(owner), tostring(wanted), count)
      end
      for i = 1, wanted do devices[i] = i end
      return devices
   end
   local taken = {}
   for _, device in ipairs(listed) do
      if type(device) == 'number' and device % 1 == 0 and device >= 1 and device <= count
         and not taken[device] then
         taken[device] = true
         devices[#devices + 1] = device
      end
   end
   if #devices == 0 then devices[1] = cutorch.getDevice() end
   return devices
end

-- Returns the type of a network whose fields were read. cunn stores it in typeStr; its _type is the
-- default type of the process that wrote the file. Files older than typeStr hold CudaTensors.
local function typeOf(owner)
   local name = owner.typeStr or owner._type
   return type(name) == 'string' and name:find('^torch%.Cuda') and name or 'torch.CudaTensor'
end

-- Returns true if a parameter of the module is on another device.
local function elsewhere(module, device)
   for _, t in ipairs(module:parameters() or {}) do
      local lies = comm.device(t)
      if lies > 0 and t:nElement() > 0 and lies ~= device then return true end
   end
   return false
end

--- Sets the fields of owner from a file of the given version.
function serial.read(owner, file, version)
   local fields, listed
   transient.unread[owner] = true
   if version < 2 then
      fields = file:readObject()
      listed = type(fields) == 'table' and fields.gpuAssignments
   else
      listed = file:readObject()
   end
   if type(listed) ~= 'table' then
      fail('%s: the file holds no list of devices', torch.type(owner))
   end
   local devices = devicesFor(owner, listed)
   fields = fields or cutorch.withDevice(devices[1], file.readObject, file)
   local module = type(fields) == 'table' and type(fields.modules) == 'table' and fields.modules[1]
   if module and not torch.isTypeOf(module, 'nn.Module') or type(fields) ~= 'table'
      or type(fields.modules) ~= 'table' then
      fail('%s: the file holds no network on devices', torch.type(owner))
   end
   if module == owner then fail('%s: the file holds it inside itself', torch.type(owner)) end
   for key, value in next, fields do owner[key] = value end
   for _, name in ipairs(options.names) do
      if not pcall(options.check, torch.type(owner), name, owner[name]) then owner[name] = nil end
   end
   owner.gpuAssignments, owner.needsSync = module and devices or {}, false
   if owner.weights and #owner.weights ~= #devices then owner.weights = nil end
   owner.flattenParams = owner.flattenParams or false
   owner.usenccl = owner.usenccl and comm.setTransport('nccl') or false
   owner._type, owner.typeStr = typeOf(owner), nil
   -- a module that is still being read contains this network
   if module and not transient.unread[module] and elsewhere(module, devices[1]) then
      module = cutorch.withDevice(devices[1], copyTree, module)
   end
   owner.modules = {module}
   transient.clear(owner)
end

return serial
