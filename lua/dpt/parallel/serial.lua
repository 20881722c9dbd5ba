--- dpt.parallel.serial: replicas in files.
--
-- What must stay true: a file holds replica 1 and the fields below, under the names of cunn's
-- version 3; it loads on whatever devices there are.
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'

local serial = {}

local FIELDS = {'dimension', 'flattenParams', 'usenccl', 'gpuAssignments', 'modules', 'train',
   'gradInput', 'output', '_type'}

function serial.write(owner, file)
   local fields = {}
   for _, name in ipairs(FIELDS) do fields[name] = owner[name] end
   file:writeObject(fields)
end

--- Sets the fields of owner; devices that are not here are left out, the current one stands for
-- none. A function that gives the modules on the device that is current when it is called; nil:
-- the file holds something else.
function serial.read(owner, file)
   local fields = file:readObject()
   if type(fields) ~= 'table' or type(fields.gpuAssignments) ~= 'table'
      or type(fields.modules) ~= 'table' then
      return nil
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
   local first = {fields.modules[1]}
   return function() return devices[1] == current and first or copyTree(first) end
end

return serial
