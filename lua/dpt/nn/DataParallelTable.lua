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
local checkDevices = require('dpt.parallel.devices').check
local gather = require 'dpt.parallel.gather'
local options = require 'dpt.parallel.options'
local scatter = require 'dpt.parallel.scatter'
local serial = require 'dpt.parallel.serial'
local shares = require 'dpt.parallel.shares'

local DataParallelTable, parent = torch.class('nn.DataParallelTable', 'nn.Container')
DataParallelTable.__version = 3
DataParallelTable.gather, DataParallelTable.buffers = true, 'first' -- where no option says else

local NAME = 'nn.DataParallelTable'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

-- Calls f with the first replica's device current.
local function onDevice(self, f)
   local device = self.gpuAssignments[1]
   if device then cutorch.withDevice(device, f) else f() end
end

-- The module that was added.
local function first(self)
   return self.modules[1] or fail('nothing was added: call add(module, {devices}) first')
end

--- @param dimension along which inputs are split and outputs joined, 1 for a batch of rows
-- @param flattenParams make the network's parameters one flat tensor at the first forward (false)
-- @param usenccl communicate by NCCL where it is there (false)
-- @param more options, see dpt.parallel.options
function DataParallelTable:__init(dimension, flattenParams, usenccl, more)
   parent.__init(self)
   if cutorch.getDeviceCount() == 0 then fail('there is no device (DPT_DEVICES=none)') end
   if type(dimension) ~= 'number' or dimension % 1 ~= 0 or dimension < 1 then
      fail('wants the dimension to split along, from 1, got %s', tostring(dimension))
   end
   if usenccl and not flattenParams then
      fail('NCCL wants flat parameters: nn.DataParallelTable(%d, true, true)', dimension)
   end
   options.set(self, more, NAME)
   self.dimension = dimension
   self.flattenParams = flattenParams or false
   self.usenccl = usenccl and comm.use('nccl') or false
   self.gpuAssignments = {}
   self.needsSync = false
   self.impl = Basic(self)
   self._type = 'torch.CudaTensor'
   self:_forget()
end

-- Drops what the next forward makes anew.
function DataParallelTable:_forgetState()
   self.inputGpu, self.gradOutputGpu, self.outputGpu, self.gradInputGpu = {}, {}, {}, {}
   self.state = {input = {}, gradOutput = {}}
   self.used = nil -- how many replicas had rows in the last forward
end

-- Drops everything that is made again when it is needed.
function DataParallelTable:_forget()
   self:_forgetState()
   self.params = Params.new()
   self.flattenedParams = nil
end

--- add(module, {devices}), or add(module, device) once for each device, of which the first
-- module counts.
-- @return self
function DataParallelTable:add(module, gpus)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('add wants an nn.Module as argument 1, got %s', torch.type(module))
   end
   if type(gpus) == 'table' and #self.modules > 0 then
      fail('add with a table of devices is to be called once, there is a module already')
   end
   local wrong, list = checkDevices(self.gpuAssignments, gpus)
   if wrong then fail('add %s', wrong) end
   self.modules[1] = self.modules[1] or module
   for _, device in ipairs(list) do table.insert(self.gpuAssignments, device) end
   self.impl:applyChanges()
   self:_forget()
   return self
end

--- A copy of replica 1 on the current device.
function DataParallelTable:replicate()
   return copyTree(first(self))
end

--- Replica i; replica 1 is the module that was added.
function DataParallelTable:get(i)
   return i == 1 and self.modules[1] or self.impl.modules and self.impl.modules[i]
end

-- Makes replicas and their flat buffers where they are missing or replica 1 has changed its form.
function DataParallelTable:_prepare()
   local params, module = self.params, first(self)
   local change = params:changed(module)
   if change == 'other' then self.impl:applyChanges() end
   local function make()
      params:build(module, self.gpuAssignments[1], self.impl)
   end
   if change or not self.impl.modules then
      make()
      self.flattenedParams = nil
   end
   if self.flattenParams and not self.flattenedParams then
      if params:flattenFirst(NAME) then make() end
      self.flattenedParams = params.flat
   end
end

--- Lets the parameters of every replica be views of one flat tensor (one for each element type):
-- flattenedParams[i] is {parameters, gradients} of replica i.
function DataParallelTable:flattenParameters()
   self.flattenParams = true
   self:_prepare()
end

--- The flat parameters and gradients of replica 1; the same memory at every call.
function DataParallelTable:getParameters()
   self:flattenParameters()
   local flat = self.flattenedParams[1]
   if #flat == 0 then return torch.Tensor(), torch.Tensor() end
   if #flat > 2 then
      fail('getParameters wants parameters of one type, they are %s and %s; flattenedParams has'
         .. ' all', torch.type(flat[1]), torch.type(flat[3]))
   end
   return flat[1], flat[2]
end

--- Copies replica 1's parameters, in evaluation also running statistics, where they have changed.
function DataParallelTable:syncParameters()
   self:_prepare()
   self.params:broadcast(self.train == false and first(self), self.impl)
   self.needsSync = false
end

-- Every replica's share of value lies in self[field] afterwards; how many replicas got rows, and
-- rows in all.
function DataParallelTable:_distribute(field, name, value)
   local plan = {devices = self.gpuAssignments, dimension = self.dimension, type = self._type}
   return scatter(self.state[name], self[field], value, plan, NAME .. ': ' .. name)
end

function DataParallelTable:_concat(kept, parts)
   return gather(kept, parts, self.used, self.dimension,
      self.outputDevice or self.gpuAssignments[1], NAME .. ': result')
end

function DataParallelTable:updateOutput(input)
   self:syncParameters()
   self.used = nil -- no backward after a forward that failed
   local used, rows = self:_distribute('inputGpu', 'input', input)
   if self.dimension == 1 then self.impl:tellRows(rows) end
   self.outputGpu = self.impl:call('updateOutput', used, self.inputGpu)
   self.used = used
   self.output = self.gather and self:_concat(self.output, self.outputGpu)
      or shares.mark(self.outputGpu, self.gpuAssignments, self.dimension)
   return self.output
end

-- Runs a method of every replica that got rows with its share of gradOutput.
function DataParallelTable:_backward(method, gradOutput, scale)
   if not self.used then fail('%s needs a forward before it', method) end
   if self.gather then self:_distribute('gradOutputGpu', 'gradOutput', gradOutput)
   else self.gradOutputGpu = shares.check(gradOutput, self.used, self.gpuAssignments, NAME) end
   return self.impl:call(method, self.used, self.inputGpu, self.gradOutputGpu, scale)
end

-- The same for a method that adds to the gradients: they are added up in replica 1's.
function DataParallelTable:_accumulate(method, gradOutput, scale)
   local ok, result = pcall(self._backward, self, method, gradOutput, scale or 1)
   if not ok then
      if self.used then self.params:zeroOthers() end
      error(result, 0)
   end
   self.params:reduce()
   self.needsSync = true
   return result
end

function DataParallelTable:_joinGradInput(parts)
   self.gradInputGpu = parts
   if self.gradInput then self.gradInput = self:_concat(self.gradInput, parts) end
   return self.gradInput
end

function DataParallelTable:backward(_, gradOutput, scale)
   return self:_joinGradInput(self:_accumulate('backward', gradOutput, scale))
end

function DataParallelTable:updateGradInput(_, gradOutput)
   return self:_joinGradInput(self:_backward('updateGradInput', gradOutput))
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
   fail('replicas cannot share tensors with another module; share get(1) before a forward')
end

function DataParallelTable:zeroGradParameters()
   self:_prepare()
   self.params:zero()
end

function DataParallelTable:updateParameters(learningRate)
   first(self):updateParameters(learningRate)
   self.needsSync = true
end

function DataParallelTable:parameters()
   return first(self):parameters()
end

for _, mode in ipairs{'training', 'evaluate'} do
   DataParallelTable[mode] = function(self)
      self.impl:run('replica', 'tell', mode)
      self.train = mode == 'training'
   end
end

function DataParallelTable:clearState()
   self.impl:run('replica', 'tell', 'clearState')
   self:_forgetState()
   return nn.utils.clear(self, 'output', 'gradInput')
end

function DataParallelTable:reset(stdv)
   onDevice(self, function() first(self):reset(stdv) end)
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

DataParallelTable.__clone = serial.clone -- what dpt.clone asks for
DataParallelTable.__write, DataParallelTable.__read = serial.write, serial.read

function DataParallelTable:__tostring__()
   return 'DataParallelTable: ' .. #self.gpuAssignments .. ' x ' .. tostring(self.modules[1])
end

return DataParallelTable
