--- dpt.parallel.serial: copies of a parallel network in memory and in files.
--
-- What must stay true: a copy and a file hold replica 1 alone, the others are made when needed. A
-- file has the fields below, under the names of cunn's version 3, and loads on whatever devices
-- there are.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local Basic = require 'dpt.parallel.basic'

local serial = {}

--- A copy of owner, whose tensors are copied by `copy` with the first device current.
function serial.clone(owner, copy)
   local clone = setmetatable({}, getmetatable(owner))
   for key, value in pairs(owner) do clone[key] = value end
   clone:_forget()
   clone.impl = nil
   cutorch.withDevice(owner.gpuAssignments[1] or cutorch.getDevice(), function()
      for key, value in pairs(clone) do clone[key] = copy(value) end
   end)
   clone.impl = Basic(clone)
   return clone
end

local FIELDS = {'dimension', 'flattenParams', 'usenccl', 'gpuAssignments', 'modules', 'train',
   'gradInput', 'output', '_type'}

function serial.write(owner, file)
   local fields = {}
   for _, name in ipairs(FIELDS) do fields[name] = owner[name] end
   file:writeObject(fields)
end

--- Sets the fields of owner. Devices that are not here are left out; the current one stands for
-- none.
function serial.read(owner, file)
   local fields = file:readObject()
   if type(fields) ~= 'table' or type(fields.gpuAssignments) ~= 'table'
      or type(fields.modules) ~= 'table' then
      dptffi.fail('%s: the file holds no network on devices', torch.type(owner))
   end
   for key, value in next, fields do owner[key] = value end
   local count, current, devices = cutorch.getDeviceCount(), cutorch.getDevice(), {}
   for _, device in ipairs(fields.gpuAssignments) do
      if type(device) == 'number' and device >= 1 and device <= count then
         devices[#devices + 1] = device
      end
   end
   if #devices == 0 then devices[1] = current end
   owner.gpuAssignments, owner.needsSync = devices, false
   owner:_forget()
   owner.modules = {fields.modules[1]}
   if devices[1] ~= current then
      cutorch.withDevice(devices[1], function() owner.modules = copyTree(owner.modules) end)
   end
   owner.impl = Basic(owner)
end

return serial
