--- dpt.comm.lists: checks lists of tensors and converts them for C.
--
-- Invariant: an array made here does not keep the tensors alive: its user must call core.keepAlive
-- with the list after the C call.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local ffi, C, fail, type = dptffi.ffi, dptffi.C, dptffi.fail, dptffi.type

local lists = {}

local tensorArray = ffi.typeof 'dpt_tensor *[?]'
local constantArray = ffi.typeof 'const dpt_tensor *[?]'

-- Raises for entries that are not tensors: LuaJIT would convert nil and strings to pointers.
local function fill(array, list, count)
   for i = 1, count do
      local t = list[i]
      if not core.isTensor(t) then
         fail('comm: entry %d of %d is of type %s, wanted a tensor', i, count, torch.type(t))
      end
      array[i - 1] = t
   end
   return array
end

--- Returns a C array of pointers to the tensors of a list.
function lists.pointers(list, count) return fill(tensorArray(count), list, count) end

--- Returns a C array of pointers to const, for tensors that are only read.
function lists.constant(list, count) return fill(constantArray(count), list, count) end

--- Returns a C array of numbers.
function lists.integers(ctype, list, count)
   local array = ffi.new(ctype, count)
   for i = 1, count do array[i - 1] = core.checkInteger('comm', 'entry ' .. i, list[i]) end
   return array
end

--- Raises unless an argument is a list of tensors.
function lists.checkTensors(name, argument, tensors)
   if type(tensors) ~= 'table' then
      fail("%s: argument '%s' is of type %s, wanted a list of tensors", name, argument,
         torch.type(tensors))
   end
   for i = 1, #tensors do
      if not core.isTensor(tensors[i]) then
         fail("%s: entry %d of argument '%s' is of type %s, wanted a tensor", name, i, argument,
            torch.type(tensors[i]))
      end
   end
end

local ON_DEVICE = core.ON_DEVICE

--- Raises if a tensor of the list is not on that device.
function lists.checkDevice(name, tensors, device)
   lists.checkTensors(name, 'tensors', tensors)
   for i = 1, #tensors do
      local t = tensors[i]
      if t.kind_ < ON_DEVICE then
         fail('%s: entry %d is a %s in host memory, wanted a device tensor; copy it to device %d'
            .. ' first', name, i, t:type(), device)
      end
      if C.dpt_tensor_device(t) ~= device and C.dpt_count(t) > 0 then
         fail('%s: entry %d is on device %d, wanted device %d', name, i, C.dpt_tensor_device(t),
            device)
      end
   end
end

--- Raises unless an argument is a non-empty list of numbers; with `each` also if a number occurs
-- twice.
function lists.checkDevices(name, devices, each)
   if type(devices) ~= 'table' or #devices == 0 then
      fail("%s: argument 'devices' is %s, wanted a list of device numbers", name,
         type(devices) == 'table' and 'empty' or 'of type ' .. torch.type(devices))
   end
   local seen = {}
   for i, device in ipairs(devices) do
      if type(device) ~= 'number' or device % 1 ~= 0 then
         fail('%s: device %d is %s, wanted a whole number', name, i,
            type(device) == 'number' and device or 'of type ' .. torch.type(device))
      end
      if each and seen[device] then
         fail('%s: device %d is there twice, as entries %d and %d, wanted each once', name, device,
            seen[device], i)
      end
      seen[device] = i
   end
end

--- Raises unless two arguments are lists of tensors of the same length, with at least one tensor.
function lists.checkPairs(name, inputs, outputs)
   lists.checkTensors(name, 'inputs', inputs)
   lists.checkTensors(name, 'outputs', outputs)
   if #inputs == 0 then fail('%s: wants one input at least, got none', name) end
   if #outputs ~= #inputs then
      fail('%s: got %d outputs for %d inputs', name, #outputs, #inputs)
   end
end

--- Returns the tensors of a list as contiguous tensors.
function lists.contiguous(tensors)
   local result = {}
   for i, t in ipairs(tensors) do result[i] = t:contiguous() end
   return result
end

return lists
