--- nn.DataParallelTable: one network on several devices, each with its part of the batch.
--
-- Invariant: replica 1 is the module that was added, on the first device, and the source: its
-- parameters are copied to the others before a forward that finds them changed; the gradients of
-- replicas 2..n are zero except between a backward and the reduction that ends it, which noSync
-- puts off. The results are those of one device. This file says when things happen, dpt/parallel/
-- says how.
--
--    net = nn.DataParallelTable(1, true):add(network:cuda(), {1, 2, 3, 4})
-- @function nn.DataParallelTable
-- @within nn data-parallel
-- @as parallel
-- @return a module; forward: what the network takes, on device 1 or on the host -> its output
--    on device 1
-- @usage nn.DataParallelTable(1):add(nn.Linear(3, 2):cuda(), torch.range(1,
--       cutorch.getDeviceCount()):totable()):forward(torch.CudaTensor(8,
--       3):fill(1)):size() --> 8x2
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local comm = require 'dpt.comm'
local distributed = require 'dpt.distributed'
local Basic = require 'dpt.parallel.dispatch.basic'
local Buffers = require 'dpt.parallel.params.buffers'
local Constants = require 'dpt.parallel.params.constants'
local Params = require 'dpt.parallel.params'
local effects = require 'dpt.parallel.params.effects'
local follow = require 'dpt.nn.DataParallelTable.follow'
local gather = require 'dpt.parallel.split.gather'
local methods = require 'dpt.nn.DataParallelTable.methods'
local options = require 'dpt.nn.DataParallelTable.options'
local timed = require 'dpt.nn.DataParallelTable.profile'
local part = require 'dpt.parallel.dispatch.part'
local scatter = require 'dpt.parallel.split.scatter'
local serial = require 'dpt.nn.DataParallelTable.files'
local deviceOutputs = require 'dpt.parallel.split.device_outputs'
local Snapshot = require 'dpt.parallel.params.snapshot'
local weighted = require 'dpt.parallel.split.weighted'
local checkJoin = require 'dpt.parallel.split.check_join'
local type = dptffi.type

local DataParallelTable, parent = torch.class('nn.DataParallelTable', 'nn.Container')
DataParallelTable.__version = 3
DataParallelTable.ownDevices = true -- moving a network leaves it where it is

--- Whether profiles name the network inside instead of the module.
-- @field nn.DataParallelTable.standsForInner
-- @as author
-- @also nn.DistributedDataParallel.standsForInner
-- @return true
-- @usage nn.DataParallelTable.standsForInner, nn.Linear.standsForInner --> true, nil
DataParallelTable.standsForInner = true -- dpt.device.scope
--- Options that say nothing else: gather (outputs come to device 1), buffers (whose running
-- statistics all get), overlap (gradients are added up while others are computed).
-- @field nn.DataParallelTable.gather
-- @as parallel
-- @within nn data-parallel
-- @also nn.DataParallelTable.buffers
-- @also nn.DataParallelTable.overlap
-- @return true, 'first', true
-- @usage nn.DataParallelTable.gather, nn.DataParallelTable.buffers,
--       nn.DataParallelTable.overlap --> true, first, true
DataParallelTable.gather, DataParallelTable.buffers, DataParallelTable.overlap = true, 'first', true

--- The part of the batch that the ranks' passes have, see nn.L1Penalty.batchPart.
-- @field nn.DataParallelTable.batchPart
-- @as author
-- @return false
-- @usage nn.DataParallelTable.batchPart --> false
DataParallelTable.batchPart = false

--- What is made again when it is needed; the dispatcher is the object's own.
DataParallelTable.transient = {'inputGpu', 'gradOutputGpu', 'outputGpu', 'gradInputGpu', 'state',
   'used', 'deferred', 'copiedBytes', 'params', 'snapshot', 'constants', 'statistics',
   'flattenedParams', 'impl', 'batchPart'}

local NAME = 'nn.DataParallelTable'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

--- @param dimension along which inputs are split and outputs joined, 1 for a batch of rows
-- @param flattenParams make the network's parameters one flat tensor at the first forward (false)
-- @param usenccl communicate by NCCL if it is there (false)
-- @param more options, see dpt.nn.DataParallelTable.options
function DataParallelTable:__init(dimension, flattenParams, usenccl, more)
   parent.__init(self)
   dptffi.lib.device_check(NAME)
   if type(dimension) ~= 'number' or dimension % 1 ~= 0 or dimension < 1 then
      fail('wants the dimension to split along, from 1, got %s', tostring(dimension))
   end
   if usenccl and not flattenParams then
      fail('NCCL wants flat parameters: nn.DataParallelTable(%d, true, true)', dimension)
   end
   options.set(self, more, NAME)
   self.dimension = dimension
   self.flattenParams = flattenParams or false
   self.usenccl = usenccl and comm.setTransport('nccl') or false
   self.gpuAssignments = {}
   self.needsSync = false
   self._type = 'torch.CudaTensor'
   self:resetTransient()
end

-- Drops what the next forward makes anew.
function DataParallelTable:_resetState()
   self.inputGpu, self.gradOutputGpu, self.outputGpu, self.gradInputGpu = {}, {}, {}, {}
   self.state = {input = {}, gradOutput = {}, joined = {}}
   self.used = nil -- how many replicas had rows in the last forward
end

--- Drops everything that is made again when it is needed, but for the dispatcher.
function DataParallelTable:resetTransient()
   self:_resetState()
   self.impl = self.impl or Basic(self)
   self.deferred = false -- whether noSync runs
   -- what went between devices for the network itself, so far
   self.copiedBytes = {parameters = 0, gradients = 0, buffers = 0}
   self.params = Params.new(self.copiedBytes)
   self.snapshot = Snapshot.new()
   self.constants = Constants.new(self.copiedBytes)
   self.statistics = Buffers.new(self.copiedBytes)
   self.flattenedParams = nil
end

--- Replica i; replica 1 is the module that was added.
function DataParallelTable:get(i)
   if i ~= 1 and self.modules[1] and not self.impl.modules then self:_prepare() end
   self:syncBuffers()
   return i == 1 and self.modules[1] or self.impl:get(i)
end

-- Every replica's part of value lies in self[field] afterwards.
-- @param splitSpec how the entries of value are cut, or nil
-- @param like what the replicas returned, if value is to be cut like that
-- @return how many replicas got rows, list of the rows before each replica's
function DataParallelTable:_scatterInto(field, name, value, splitSpec, like, likeName)
   local cut = weighted(self.weights, #self.gpuAssignments, NAME)
   local plan = {devices = self.gpuAssignments, dimension = self.dimension, type = self._type,
      spec = splitSpec, like = like, likeName = likeName, cut = cut}
   return timed(self, 'scatter', scatter.into, self.state[name], self[field], value, plan,
      NAME .. ': ' .. name)
end

-- The replicas' results joined, in tensors that are kept from one call to the next: those that it
-- made itself, never what a script or a replica has put into the field.
function DataParallelTable:_join(name, parts, splitSpec)
   local joined = self.state.joined
   joined[name] = joined[name] or self.used == 0 and torch.getmetatable(self._type).new() or nil
   joined[name] = timed(self, 'gather', gather, joined[name], parts, self.used,
      self.dimension, self.outputDevice or self.gpuAssignments[1], NAME .. ': result', splitSpec)
   return joined[name]
end

-- Returns the part of the batch of each replica (dpt.parallel.dispatch.part).
local function partsOf(self, used)
   local before, own, list = self.impl.before, self.batchPart or {share = 1}, {}
   local rows = before[#before]
   for i = 1, used do
      local here = own.share and (rows > 0 and (before[i + 1] - before[i]) / rows or 0)
      list[i] = {devices = own.devices, share = here and own.share * here}
   end
   return list
end

-- Calls a method of the replicas, a pass. What it changes in replica 1 is no script's work.
function DataParallelTable:_call(name, method, used, ...)
   local wanted = self.impl:isPartWanted()
   if wanted then self.impl:run(part.setReplica, partsOf(self, used)) end
   local ok, results = pcall(timed, self, name, self.impl.call, self.impl, method, used, ...)
   if wanted then self.impl:run(part.setReplica, nil) end
   self:_takeSnapshot(true)
   self.params.pending:passed()
   if not ok then error(results, 0) end
   return results
end

-- How many replicas come to a pass without rows: the first one, which knows the sizes of what has
-- none, if the input has sizes and results are joined, or ranks exchange something in its middle.
function DataParallelTable:_leastUsed()
   if self.gather and deviceOutputs.dimensions(self.inputGpu[1]) > 0 then return 1 end
   return self.train ~= false and self.impl:meets() and distributed.size() > 1 and 1 or 0
end

--- How an input is cut into the parts of replicas.
function DataParallelTable:inputSplit(input)
   return self.splitSpec or self.policy or self:_first():inputSplit(input) or self.dimension
end

function DataParallelTable:updateOutput(input)
   options.checkFields(self)
   self:syncParameters()
   self.used = nil -- no backward after a forward that failed
   local state, module = self.state, self.modules[1]
   state.inputSplit = self:inputSplit(input)
   local used, before = self:_cutInput(input, state.awaitsBackward)
   state.awaitsBackward = self.train ~= false
   used = math.max(used, self:_leastUsed())
   self.impl:setRows(before)
   self.outputGpu = self:_call('forward', 'updateOutput', used, self.inputGpu)
   if effects.join(module, self.gpuAssignments[1], self.impl) then self.params.pending:passed() end
   self.used, self.impl.called = used, self.impl.modules
   state.outputSplit = module:outputSplit(state.inputSplit)
   if self.gather then
      checkJoin(NAME, state.inputSplit, state.outputSplit or self.dimension, state.outputSplit,
         used, before, self.inputGpu, self.outputGpu)
   end
   self.output = self.gather and self:_join('output', self.outputGpu, state.outputSplit)
      or deviceOutputs.mark(self.outputGpu, self.gpuAssignments,
         tonumber(state.outputSplit) or self.dimension)
   return self.output
end

-- Cuts an input.
-- @param keep whether the parts that a module has written to since are left to it: in place they
-- are its output, which a backward may need
function DataParallelTable:_cutInput(input, keep, like)
   local state = self.state
   if keep and state.written ~= scatter.version(self.inputGpu) then state.input = {} end
   local used, before = self:_scatterInto('inputGpu', 'input', input, state.inputSplit, like,
      'that of the last forward')
   state.written = scatter.version(self.inputGpu)
   return used, before
end

-- The replicas' parts of an input that was not that of the last forward (nil: it was).
function DataParallelTable:_takeInput(input)
   if input == nil or scatter.wasOf(self.state.input, self.inputGpu, input) then return end
   local used = self.used
   self.used = nil -- unless this one fits
   self:_cutInput(input, true, self.inputGpu)
   self.used = used
end

-- Runs a method of every replica that got rows with its part of gradOutput; with reducing, the
-- reduction of gradients may begin meanwhile.
function DataParallelTable:_backward(method, input, gradOutput, scale, reducing)
   if not self.used then fail('%s needs a forward before it', method) end
   self:_takeInput(input)
   self.state.awaitsBackward = false
   self:_follow()
   if self.params:hasMoved() then self:_layOut() end
   if self.impl.modules ~= self.impl.called then
      self.used = nil
      fail('%s: the network was changed after its forward, so that replicas had to be made anew:'
         .. ' call forward again', method)
   end
   self.params:broadcast() -- an optimizer may have run since that forward
   if self.gather then
      self:_scatterInto('gradOutputGpu', 'gradOutput', gradOutput, self.state.outputSplit,
         self.outputGpu)
   else
      self.gradOutputGpu = deviceOutputs.check(gradOutput, self.used, self.gpuAssignments, NAME)
   end
   local call = reducing and self.params:begin(self.impl, self.used)
   return self:_call('backward', method, self.used, self.inputGpu, self.gradOutputGpu, scale,
      call and self:_overlaps() and call)
end

-- Returns true if sums of gradients may begin in the backward pass. With ranks, replicas that meet
-- in its middle would send buckets between what they exchange there.
function DataParallelTable:_overlaps()
   local sender = self.params.sender
   return self.overlap and not (sender and (sender.waits or self.impl:meets()))
end

-- The same for a method that adds to the gradients: they are added up in replica 1's.
function DataParallelTable:_accumulate(method, input, gradOutput, scale)
   self.params.pending:check()
   local before = self.params.gradient and self.params:gradientVersion()
   local ok, result = pcall(self._backward, self, method, input, gradOutput, scale or 1,
      (self.overlap or self.params.sender) and self.flattenParams and not self.deferred)
   if not ok then
      if self.used then self.params:failed(before) end
      error(result, 0)
   end
   if self.deferred then self.params:defer()
   else timed(self, 'reduce', self.params.reduce, self.params) end
   self.needsSync = true
   return result
end

function DataParallelTable:_joinGradInput(parts)
   self.gradInputGpu = parts
   if self.gradInput then
      self.gradInput = self:_join('gradInput', parts, self.state.inputSplit)
   end
   return self.gradInput
end

function DataParallelTable:backward(input, gradOutput, scale)
   return self:_joinGradInput(self:_accumulate('backward', input, gradOutput, scale))
end

function DataParallelTable:updateGradInput(input, gradOutput)
   return self:_joinGradInput(self:_backward('updateGradInput', input, gradOutput))
end

function DataParallelTable:accGradParameters(input, gradOutput, scale)
   self:_accumulate('accGradParameters', input, gradOutput, scale)
end

function DataParallelTable:clearState()
   self:_callAll('clearState')
   self.impl:collect()
   self:_resetState()
   return nn.utils.clear(self, 'output', 'gradInput')
end

for name, method in pairs(follow) do DataParallelTable[name] = method end
for name, method in pairs(methods) do DataParallelTable[name] = method end
DataParallelTable.__clone = serial.clone -- what dpt.clone asks for
DataParallelTable.__write, DataParallelTable.__read = serial.write, serial.read

return DataParallelTable
