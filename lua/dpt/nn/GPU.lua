--- nn.GPU(module, device, outdevice): runs a module on a given device, for networks that are split
-- over devices by layers.
--
-- Invariant: the module's tensors are on its device, where it computes. input and gradOutput are
-- copied to the device, outputs to outdevice (device if omitted), gradInput to the input's device;
-- tensors already in place are not copied. A module of a host type ignores devices, so the same
-- network runs on a machine without devices.
-- @function nn.GPU
-- @within nn data-parallel
-- @as parallel
-- @param device the device of the module
-- @param outdevice the device of its output (device)
-- @return a module; forward: the module's input -> its output, on outdevice
-- @usage nn.GPU(nn.Linear(3, 2), 1):cuda():forward(torch.CudaTensor(4, 3):fill(1)):size()
--    --> 4x2
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local type = dptffi.type

local GPU, parent = torch.class('nn.GPU', 'nn.Container')

--- True: moving an enclosing network does not move the module.
-- @field nn.GPU.ownDevices
-- @as author
-- @also nn.DataParallelTable.ownDevices
-- @return true
-- @usage nn.GPU.ownDevices, nn.Linear.ownDevices --> true, nil
GPU.ownDevices = true -- moving an enclosing network does not move it
--- The input, and copies on other devices; output and gradInput may be among them.
GPU.transient = {'_input', '_gradOutput', 'kept', 'output', 'gradInput'}

local function fail(format, ...) return dptffi.fail('nn.GPU: ' .. format, ...) end

local function isNumber(device)
   return type(device) == 'number' and device % 1 == 0 and device >= 1
end

local function onDevices(self)
   return self._type:find('^torch%.Cuda') ~= nil
end

-- Calls f(...), with the module's device as the current one if it has a device.
local function on(self, f, ...)
   if onDevices(self) then return cutorch.withDevice(self.device, f, ...) end
   return f(...)
end

--- @param outdevice device of the outputs (device)
function GPU:__init(module, device, outdevice)
   parent.__init(self)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('wants an nn.Module as argument 1, got %s', torch.type(module))
   end
   if not isNumber(device) then
      fail('wanted a device number as argument 2, got %s', tostring(device))
   end
   if outdevice ~= nil and not isNumber(outdevice) then
      fail('wanted a device number as argument 3, got %s', tostring(outdevice))
   end
   self.modules[1] = module
   self.outdevice = outdevice or device
   self._type = module:type()
   self:setDevice(device)
end

function GPU:resetTransient()
   self.kept = {}
   self.output = torch.getmetatable(self._type).new()
   self.gradInput = self.output.new()
end

--- Moves the module to a device, and the outputs too if they were on the module's device.
-- @function nn.GPU:setDevice
-- @as parallel
-- @within nn data-parallel
-- @param device number: from 1
-- @return the module
-- @usage nn.GPU(nn.Linear(2, 3), 1):setDevice(2).device --> 2
function GPU:setDevice(device)
   if self.outdevice == self.device then self.outdevice = device end
   self.device = device
   self.kept = {}
   if onDevices(self) then nn.utils.moveTo(self.modules[1], device) end
   return self
end

-- Returns src with its tensors on other devices: on the device `where`, or on the devices of the
-- tensors in the tree `where`. Copies reuse the memory of kept, the second result of the previous
-- call.
local function moved(kept, src, where)
   if torch.isTensor(src) then
      local device = torch.isTensor(where) and comm.device(where) or where
      if type(device) ~= 'number' or device == 0 or comm.device(src) == 0
         or comm.device(src) == device then return src, kept end
      cutorch.withDevice(device, function()
         local fits = torch.type(kept) == src:type() and comm.device(kept) == device
         kept = (fits and kept or src.new()):resize(src:size()):copy(src)
      end)
      return kept, kept
   elseif torch.type(src) == 'table' then
      local result, copies = {}, {}
      kept = torch.type(kept) == 'table' and kept or {}
      for k, v in pairs(src) do
         result[k], copies[k] = moved(kept[k], v, type(where) == 'table' and where[k] or where)
      end
      return result, copies
   end
   return src, kept
end

-- Moves a value to devices; the copies are kept under a name for the next call.
function GPU:_move(name, value, where)
   if not onDevices(self) then return value end
   local result
   result, self.kept[name] = moved(self.kept[name], value, where)
   return result
end

-- Calls the inner module's method on its device; an error names the module.
function GPU:_call(method, ...)
   return on(self, self.rethrowErrors, self, self.modules[1], 1, method, ...)
end

function GPU:updateOutput(input)
   self._input = self:_move('input', input, self.device)
   self.output = self:_move('output', self:_call('updateOutput', self._input), self.outdevice)
   return self.output
end

function GPU:_gradInput(input, gradInput)
   self.gradInput = self:_move('gradInput', gradInput, input)
   return self.gradInput
end

function GPU:backward(input, gradOutput, scale)
   self._gradOutput = self:_move('gradOutput', gradOutput, self.device)
   return self:_gradInput(input, self:_call('backward', self._input, self._gradOutput, scale))
end

function GPU:updateGradInput(input, gradOutput)
   self._gradOutput = self:_move('gradOutput', gradOutput, self.device)
   return self:_gradInput(input, self:_call('updateGradInput', self._input, self._gradOutput))
end

for _, method in ipairs{'accGradParameters', 'accUpdateGradParameters',
   'sharedAccUpdateGradParameters'} do
   GPU[method] = function(self, _, gradOutput, scale)
      self:_call(method, self._input, self:_move('gradOutput', gradOutput, self.device), scale)
   end
end

for _, method in ipairs{'apply', 'zeroGradParameters', 'updateParameters', 'training', 'evaluate',
   'share', 'reset', 'clearState'} do
   GPU[method] = function(self, ...) return on(self, parent[method], self, ...) end
end

--- Returns the name of the type; with a name, converts the module to that type. Tensors of a device
-- type are allocated on the module's device.
function GPU:type(typename, tensorCache)
   if not typename then return self._type end
   self._type = typename
   on(self, parent.type, self, typename, tensorCache)
   return self:setDevice(self.device)
end

function GPU:__clone(plain)
   return on(self, plain)
end

function GPU:__write(file)
   file:writeObject({self._type, self.device})
   file:writeFields(self)
end

--- Reads the module. If its device does not exist but others do, it moves to the current one.
function GPU:__read(file)
   local header = file:readObject()
   local count = cutorch.getDeviceCount()
   local function here(device)
      return (count == 0 or device <= count) and device or cutorch.getDevice()
   end
   self._type, self.device = header[1], here(header[2])
   on(self, file.readFields, file, self)
   self.device, self.outdevice = here(header[2]), here(self.outdevice)
end

function GPU:__tostring__()
   return ('%s(%d) @ %s'):format(torch.type(self), self.device, tostring(self.modules[1]))
end

return GPU
