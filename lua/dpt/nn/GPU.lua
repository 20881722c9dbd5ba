--- nn.GPU(module, device, outdevice): a module on a device of its own, for networks that are split
-- over devices by layers.
--
-- Invariant: the module's tensors lie on the device and its work is done there; input and
-- gradOutput are moved there, outputs to outdevice (the same device if not given), gradInput to
-- where the input is; what is there already is not copied. As a module of a host type it changes
-- nothing, so that the same network runs where there are no devices.
-- @function nn.GPU
-- @within nn data-parallel
-- @as parallel
-- @param device where the module is and computes
-- @param outdevice where its output goes (device)
-- @return a module; forward: what the module takes -> its output, on outdevice
-- @usage nn.GPU(nn.Linear(3, 2), 1):cuda():forward(torch.CudaTensor(4, 3):fill(1)):size()
--    --> 4x2
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local type = dptffi.type

local GPU, parent = torch.class('nn.GPU', 'nn.Container')

--- Whether moving a network leaves the module where it is.
-- @field nn.GPU.ownDevices
-- @as author
-- @also nn.DataParallelTable.ownDevices
-- @return true
-- @usage nn.GPU.ownDevices, nn.Linear.ownDevices --> true, nil
GPU.ownDevices = true -- moving a network leaves it where it is
--- The input and copies on other devices; output and gradInput may be among these.
GPU.transient = {'_input', '_gradOutput', 'kept', 'output', 'gradInput'}

local function fail(format, ...) return dptffi.fail('nn.GPU: ' .. format, ...) end

local function isNumber(device)
   return type(device) == 'number' and device % 1 == 0 and device >= 1
end

local function onDevices(self)
   return self._type:find('^torch%.Cuda') ~= nil
end

-- Calls f(...) with the module's device current if it is on one.
local function on(self, f, ...)
   if onDevices(self) then return cutorch.withDevice(self.device, f, ...) end
   return f(...)
end

--- @param outdevice where outputs go (device)
function GPU:__init(module, device, outdevice)
   parent.__init(self)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('wants an nn.Module as argument 1, got %s', torch.type(module))
   end
   if not isNumber(device) then
      fail('wants the number of a device as argument 2, got %s', tostring(device))
   end
   if outdevice ~= nil and not isNumber(outdevice) then
      fail('wants the number of a device as argument 3, got %s', tostring(outdevice))
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

--- Moves the module to a device, and its outputs if they stayed there.
-- @function nn.GPU:setDevice
-- @as parallel
-- @within nn data-parallel
-- @param device number: from 1 on
-- @return the module
-- @usage nn.GPU(nn.Linear(2, 3), 1):setDevice(2).device --> 2
function GPU:setDevice(device)
   if self.outdevice == self.device then self.outdevice = device end
   self.device = device
   self.kept = {}
   if onDevices(self) then nn.utils.moveTo(self.modules[1], device) end
   return self
end

-- What is src, with its tensors on devices: where is a device or a tree of tensors that are there.
-- Copies are made in kept, which the call before returned as its second result.
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

-- A value on devices, by the copies that were kept under a name.
function GPU:_move(name, value, where)
   if not onDevices(self) then return value end
   local result
   result, self.kept[name] = moved(self.kept[name], value, where)
   return result
end

-- The inner module's method, with its device current and errors that name the way.
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

--- The type's name, or the module with another type of tensors; a device's are made on its device.
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

--- If there are devices, but not the module's, it goes to the current one.
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
