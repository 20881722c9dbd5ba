--- nn.DataParallelTable: one network on several devices, each with its share of the batch.
--
-- What must stay true: replica 1 is the module that was added, on the first device, and the truth:
-- its parameters are copied to the others before a forward that finds them changed; the gradients
-- of replicas 2..n are zero except between a backward and the reduction that ends it. The results
-- are those of one device. This file says when things happen, dpt/parallel/ says how.
--
--    net = nn.DataParallelTable(1, true):add(network:cuda(), {1, 2, 3, 4})
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local cutorch = require 'dpt.device'
local comm = require 'dpt.comm'
local copyTree = require 'dpt.clone'
local Basic = require 'dpt.parallel.basic'
local Params = require 'dpt.parallel.params'
local gather = require 'dpt.parallel.gather'
local scatter = require 'dpt.parallel.scatter'

local DataParallelTable, parent = torch.class('nn.DataParallelTable', 'nn.Container')
DataParallelTable.__version = 3

local NAME = 'nn.DataParallelTable'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

-- Calls f with the first replica's device current.
local function onDevice(self, f)
   local device = self.gpuAssignments[1]
   if device then cutorch.withDevice(device, f) else f() end
end

local function isDevice(value)
   return type(value) == 'number' and value % 1 == 0 and value >= 1
      and value <= cutorch.getDeviceCount()
end

--- @param dimension along which inputs are split and outputs joined, 1 for a batch of rows
-- @param flattenParams make the network's parameters one flat tensor at the first forward (false)
-- @param usenccl communicate by NCCL where it is there (false)
function DataParallelTable:__init(dimension, flattenParams, usenccl)
   parent.__init(self)
   if cutorch.getDeviceCount() == 0 then fail('there is no device (DPT_DEVICES=none)') end
   if type(dimension) ~= 'number' or dimension % 1 ~= 0 or dimension < 1 then
      fail('wants the dimension to split along, from 1, got %s', tostring(dimension))
   end
   if usenccl and not flattenParams then
      fail('cannot use NCCL without flat parameters: nn.DataParallelTable(%d, true, true)',
         dimension)
   end
   self.dimension = dimension
   self.flattenParams = flattenParams or false
   self.usenccl = usenccl and comm.use('nccl') or false
   self.gpuAssignments = {}
   self.needsSync = false
   self.impl = Basic(self)
   self._type = 'torch.CudaTensor'
   self:_forget()
end

-- Drops everything that is made again when it is needed.
function DataParallelTable:_forget()
   self.inputGpu, self.gradOutputGpu, self.outputGpu, self.gradInputGpu = {}, {}, {}, {}
   self.state = {input = {}, gradOutput = {}}
   self.used = nil
   self.params = Params.new()
   self.flattenedParams = nil
end

--- add(module, {devices}), or add(module, device) once for each device, of which the first
-- module counts.
-- @return self
function DataParallelTable:add(module, gpus)
   local list = type(gpus) == 'number' and {gpus} or gpus
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('add wants an nn.Module as argument 1, got %s', torch.type(module))
   end
   if type(list) ~= 'table' or #list == 0 then
      fail('add wants a device number or a table of them as argument 2, got %s', torch.type(gpus))
   end
   if list == gpus and #self.modules > 0 then
      fail('add with a table of devices is to be called once, there is a module already')
   end
   local taken = {}
   for _, device in ipairs(self.gpuAssignments) do taken[device] = true end
   for i, device in ipairs(list) do
      if not isDevice(device) then
         fail('add: device %s does not exist, there are %d (argument 2, entry %d)',
            tostring(device), cutorch.getDeviceCount(), i)
      end
      if taken[device] then fail('add: device %d is in the list twice', device) end
      taken[device] = true
   end
   self.modules[1] = self.modules[1] or module
   for _, device in ipairs(list) do table.insert(self.gpuAssignments, device) end
   self.impl:applyChanges()
   self:_forget()
   return self
end

--- A copy of replica 1 on the current device.
function DataParallelTable:replicate()
   return copyTree(self.modules[1])
end

--- Replica i; replica 1 is the module that was added.
function DataParallelTable:get(i)
   return i == 1 and self.modules[1] or self.impl.modules and self.impl.modules[i]
end

-- Makes replicas and their flat buffers where they are missing or replica 1 has changed its form.
function DataParallelTable:_prepare()
   local module = self.modules[1]
   if not module then fail('nothing was added: call add(module, {devices}) first') end
   local params = self.params
   if self.impl.modules and not params:changed(module) then return end
   local function exec(f) self.impl:exec(f) end
   params:build(exec)
   if self.flattenParams and params:flattenFirst(NAME) then params:build(exec) end
   self.flattenedParams = self.flattenParams and params.flat or nil
end

--- Lets the parameters of every replica be views of one flat tensor (one for each element type):
-- flattenedParams[i] is {parameters, gradients} of replica i.
function DataParallelTable:flattenParameters()
   self.flattenParams = true
   self.params = Params.new()
   self:_prepare()
end

--- The flat parameters and gradients of replica 1; the same memory at every call.
function DataParallelTable:getParameters()
   self.flattenParams = true
   self.flattenedParams = nil
   self.params = Params.new()
   self:_prepare()
   local flat = self.params.flat[1]
   if #flat == 0 then return torch.Tensor(), torch.Tensor() end
   if #flat > 2 then
      fail('getParameters wants parameters of one type, they are %s and %s; flattenedParams has'
         .. ' all', torch.type(flat[1]), torch.type(flat[3]))
   end
   return flat[1], flat[2]
end

--- Copies replica 1's parameters to the others, if anything wrote to them since the last time.
function DataParallelTable:syncParameters()
   self:_prepare()
   self.params:broadcast()
   self.needsSync = false
end

-- Every replica's share of value lies in self[field] afterwards; how many replicas got rows, and
-- rows in all.
function DataParallelTable:_distribute(field, name, value)
   local plan = {devices = self.gpuAssignments, dimension = self.dimension, type = self._type}
   return scatter(self.state[name], self[field], value, plan, NAME .. ': ' .. name)
end

function DataParallelTable:_concat(kept, parts)
   return gather(kept, parts, self.used, self.dimension, self.gpuAssignments[1], NAME .. ': result')
end

function DataParallelTable:updateOutput(input)
   self:syncParameters()
   self.used = nil -- no backward after a forward that failed
   local used, rows = self:_distribute('inputGpu', 'input', input)
   if self.dimension == 1 then self.impl:tellRows(rows) end
   self.outputGpu = self.impl:call('updateOutput', used, self.inputGpu)
   self.used = used
   self.output = self:_concat(self.output, self.outputGpu)
   return self.output
end

local function needsForward(self, method)
   if not self.used then fail('%s needs a forward before it', method) end
end

-- Runs a method of every replica that got rows with its share of gradOutput.
function DataParallelTable:_backward(method, gradOutput, scale)
   self:_distribute('gradOutputGpu', 'gradOutput', gradOutput)
   return self.impl:call(method, self.used, self.inputGpu, self.gradOutputGpu, scale)
end

-- The same for a method that adds to the gradients: they are added up in replica 1's.
function DataParallelTable:_accumulate(method, gradOutput, scale)
   needsForward(self, method)
   local ok, result = pcall(self._backward, self, method, gradOutput, scale or 1)
   if not ok then
      self.params:zeroOthers()
      error(result, 0)
   end
   self.params:reduce()
   self.needsSync = true
   return result
end

function DataParallelTable:backward(_, gradOutput, scale)
   self.gradInputGpu = self:_accumulate('backward', gradOutput, scale)
   if self.gradInput then self.gradInput = self:_concat(self.gradInput, self.gradInputGpu) end
   return self.gradInput
end

function DataParallelTable:updateGradInput(_, gradOutput)
   needsForward(self, 'updateGradInput')
   self.gradInputGpu = self:_backward('updateGradInput', gradOutput)
   if self.gradInput then self.gradInput = self:_concat(self.gradInput, self.gradInputGpu) end
   return self.gradInput
end

function DataParallelTable:accGradParameters(_, gradOutput, scale)
   self:_accumulate('accGradParameters', gradOutput, scale)
end

function DataParallelTable:accUpdateGradParameters()
   fail('accUpdateGradParameters would change each replica by its own rows alone; call backward and'
      .. ' then updateParameters(learningRate)')
end
DataParallelTable.sharedAccUpdateGradParameters = DataParallelTable.accUpdateGradParameters

function DataParallelTable:share()
   fail('replicas on several devices cannot share tensors with another module; share get(1), the'
      .. ' module that was added, before the first forward')
end

function DataParallelTable:zeroGradParameters()
   self:_prepare()
   self.params:zero()
end

function DataParallelTable:updateParameters(learningRate)
   self.modules[1]:updateParameters(learningRate)
   self.needsSync = true
end

--- Replica 1's parameters and gradients.
function DataParallelTable:parameters()
   return self.modules[1]:parameters()
end

function DataParallelTable:training()
   self.impl:exec(function(module) module:training() end)
   self.train = true
end

function DataParallelTable:evaluate()
   self.impl:exec(function(module) module:evaluate() end)
   self.train = false
end

function DataParallelTable:clearState()
   self.impl:exec(function(module) module:clearState() end)
   self.inputGpu, self.gradOutputGpu, self.outputGpu, self.gradInputGpu = {}, {}, {}, {}
   self.state = {input = {}, gradOutput = {}}
   self.used = nil
   return nn.utils.clear(self, 'output', 'gradInput')
end

function DataParallelTable:reset(stdv)
   onDevice(self, function() self.modules[1]:reset(stdv) end)
   self.needsSync = true
end

--- Calls f for this module and for those of replica 1; the other replicas are then copied anew.
function DataParallelTable:apply(f)
   parent.apply(self, f)
   self.impl:applyChanges()
   self.needsSync = true
end

--- The type's name, or the same network with another type of tensors, which must be a device's.
function DataParallelTable:type(typename, tensorCache)
   if not typename then return self._type end
   if not typename:find('^torch%.Cuda') then
      fail('type %s is of the host, replicas live on devices: wanted torch.CudaTensor,'
         .. ' torch.CudaDoubleTensor or torch.CudaHalfTensor; get(1) is the network itself',
         typename)
   end
   self.impl:applyChanges()
   self:_forget()
   self._type = typename
   self.output = torch.getmetatable(typename).new()
   if self.gradInput then self.gradInput = torch.getmetatable(typename).new() end
   if self.modules[1] then
      onDevice(self, function() self.modules[1]:type(typename, tensorCache) end)
   end
   return self
end

function DataParallelTable:clone(...)
   if select('#', ...) > 0 then
      fail('clone cannot share %s between replicas on several devices; clone without arguments',
         tostring((...)))
   end
   return copyTree(self)
end

-- What dpt.clone asks for: replica 1 is copied, on its device, the others are made when needed.
function DataParallelTable:__clone(copy)
   local made = {impl = 1, inputGpu = 1, gradOutputGpu = 1, outputGpu = 1, gradInputGpu = 1,
      state = 1, used = 1, params = 1, flattenedParams = 1}
   local clone = setmetatable({}, getmetatable(self))
   onDevice(self, function()
      for key, value in pairs(self) do
         if not made[key] then clone[key] = copy(value) end
      end
   end)
   clone.impl = Basic(clone)
   clone:_forget()
   return clone
end

function DataParallelTable:__tostring__()
   return 'DataParallelTable: ' .. #self.gpuAssignments .. ' x ' .. tostring(self.modules[1])
end

return DataParallelTable
