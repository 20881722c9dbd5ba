--- nn.DataParallelTable: runs one network on several devices, each with its part of the batch.
--
-- Invariant: replica 1, on the first device, is the module that was added. Its parameters are
-- copied to the other replicas before a forward if they have changed. The gradients of replicas
-- 2..n are zero except between a backward and the reduction that ends it, which noSync postpones.
-- The results are those of one device. This file decides when each step happens; dpt/parallel/
-- implements the steps.
--
--    net = nn.DataParallelTable(1, true):add(network:cuda(), {1, 2, 3, 4})
-- @function nn.DataParallelTable
-- @within nn data-parallel
-- @as parallel
-- @return a module; forward: the network's input, on device 1 or on the host -> its output on
--    device 1
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
local forwardWrites = require 'dpt.parallel.params.forward_writes'
local sync = require 'dpt.nn.DataParallelTable.sync'
local gather = require 'dpt.parallel.split.gather'
local methods = require 'dpt.nn.DataParallelTable.methods'
local options = require 'dpt.nn.DataParallelTable.options'
local timed = require 'dpt.nn.DataParallelTable.profile'
local batchPart = require 'dpt.parallel.dispatch.batch_part'
local scatter = require 'dpt.parallel.split.scatter'
local serial = require 'dpt.nn.DataParallelTable.files'
local deviceOutputs = require 'dpt.parallel.split.device_outputs'
local Snapshot = require 'dpt.parallel.params.snapshot'
local weighted = require 'dpt.parallel.split.weighted'
local checkJoin = require 'dpt.parallel.split.check_join'
local type = dptffi.type

local DataParallelTable, parent = torch.class('nn.DataParallelTable', 'nn.Container')
DataParallelTable.__version = 3
DataParallelTable.ownDevices = true -- moving an enclosing network does not move it

--- True if profiles name the inner network instead of this module.
-- @field nn.DataParallelTable.standsForInner
-- @as author
-- @also nn.DistributedDataParallel.standsForInner
-- @return true
-- @usage nn.DataParallelTable.standsForInner, nn.Linear.standsForInner --> true, nil
DataParallelTable.standsForInner = true -- dpt.device.scope
--- Default options: gather (outputs are joined on device 1), buffers (the replica whose running
-- statistics all others receive), overlap (gradients are summed during the backward pass).
-- @field nn.DataParallelTable.gather
-- @as parallel
-- @within nn data-parallel
-- @also nn.DataParallelTable.buffers
-- @also nn.DataParallelTable.overlap
-- @return true, 'first', true
-- @usage nn.DataParallelTable.gather, nn.DataParallelTable.buffers,
--       nn.DataParallelTable.overlap --> true, first, true
DataParallelTable.gather, DataParallelTable.buffers, DataParallelTable.overlap = true, 'first', true

--- The part of the batch that this rank's passes handle, see nn.L1Penalty.batchPart.
-- @field nn.DataParallelTable.batchPart
-- @as author
-- @return false
-- @usage nn.DataParallelTable.batchPart --> false
DataParallelTable.batchPart = false

--- Fields that are rebuilt when needed; each copy has its own dispatcher.
DataParallelTable.transient = {'inputGpu', 'gradOutputGpu', 'outputGpu', 'gradInputGpu', 'state',
   'used', 'inNoSync', 'copiedBytes', 'params', 'snapshot', 'constants', 'statistics',
   'flattenedParams', 'impl', 'batchPart'}

local NAME = 'nn.DataParallelTable'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

--- @param dimension that inputs are split and outputs joined along, 1 for a batch of rows
-- @param flattenParams makes the network's parameters one flat tensor at the first forward (false)
-- @param usenccl communicates by NCCL if it is available (false)
-- @param more options, see dpt.nn.DataParallelTable.options
function DataParallelTable:__init(dimension, flattenParams, usenccl, more)
   parent.__init(self)
   dptffi.lib.device_check(NAME)
   if type(dimension) ~= 'number' or dimension % 1 ~= 0 or dimension < 1 then
      fail("argument 'dimension' is %s, wanted the dimension to split along, from 1",
         tostring(dimension))
   end
   if usenccl and not flattenParams then
      fail("argument 'usenccl' requires flat parameters; use nn.DataParallelTable(%d, true, true)",
         dimension)
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

-- Drops the fields that the next forward rebuilds.
function DataParallelTable:_resetState()
   self.inputGpu, self.gradOutputGpu, self.outputGpu, self.gradInputGpu = {}, {}, {}, {}
   self.state = {input = {}, gradOutput = {}, joined = {}}
   self.used = nil -- number of replicas that had rows in the last forward
end

--- Drops every field that is rebuilt when needed, except the dispatcher.
function DataParallelTable:resetTransient()
   self:_resetState()
   self.impl = self.impl or Basic(self)
   self.inNoSync = false -- true inside noSync
   -- bytes copied between devices for the network itself so far
   self.copiedBytes = {parameters = 0, gradients = 0, buffers = 0}
   self.params = Params.new(self.copiedBytes)
   self.snapshot = Snapshot.new()
   self.constants = Constants.new(self.copiedBytes)
   self.statistics = Buffers.new(self.copiedBytes)
   self.flattenedParams = nil
end

--- Returns replica i. Replica 1 is the module that was added.
function DataParallelTable:get(i)
   if i ~= 1 and self.modules[1] and not self.impl.modules then self:_prepare() end
   self:syncBuffers()
   return i == 1 and self.modules[1] or self.impl:get(i)
end

-- Splits a value into parts, one per replica, and stores their list in self[field].
-- @param splitSpec how the entries of value are split, or nil
-- @param like the replicas' outputs, if value must be split as they are
-- @return the number of replicas that got rows, and for each replica the number of rows before its
--    part
function DataParallelTable:_scatterInto(field, name, value, splitSpec, like, likeName)
   local cut = weighted(self.weights, #self.gpuAssignments, NAME)
   local plan = {devices = self.gpuAssignments, dimension = self.dimension, type = self._type,
      spec = splitSpec, like = like, likeName = likeName, cut = cut}
   return timed(self, 'scatter', scatter.into, self.state[name], self[field], value, plan,
      NAME .. ': ' .. name)
end

-- Joins the replicas' results in tensors that are reused by later calls. These are always tensors
-- that this method allocated, never ones that a script or a replica assigned to the field.
function DataParallelTable:_join(name, parts, splitSpec)
   local joined = self.state.joined
   joined[name] = joined[name] or self.used == 0 and torch.getmetatable(self._type).new() or nil
   joined[name] = timed(self, 'gather', gather, joined[name], parts, self.used,
      self.dimension, self.outputDevice or self.gpuAssignments[1], NAME .. ': result', splitSpec)
   return joined[name]
end

-- Returns the part of the batch of each replica (dpt.parallel.dispatch.batch_part).
local function partsOf(self, used)
   local before, own, list = self.impl.before, self.batchPart or {share = 1}, {}
   local rows = before[#before]
   for i = 1, used do
      local here = own.share and (rows > 0 and (before[i + 1] - before[i]) / rows or 0)
      list[i] = {devices = own.devices, share = here and own.share * here}
   end
   return list
end

-- Runs a pass: calls a method of the replicas. Writes of the pass to replica 1 do not count as
-- changes by a script.
function DataParallelTable:_call(name, method, used, ...)
   local wanted = self.impl:isPartWanted()
   if wanted then self.impl:run(batchPart.setReplica, partsOf(self, used)) end
   local ok, results = pcall(timed, self, name, self.impl.call, self.impl, method, used, ...)
   if wanted then self.impl:run(batchPart.setReplica, nil) end
   self:_takeSnapshot(true)
   self.params.pending:endPass()
   if not ok then error(results, 0) end
   return results
end

-- Returns the number of replicas that run a pass without rows. It is 1 if results are joined and
-- the input has sizes, because only replica 1 knows the sizes of an empty result, or if ranks
-- communicate within the pass; otherwise 0.
function DataParallelTable:_leastUsed()
   if self.gather and deviceOutputs.dimensions(self.inputGpu[1]) > 0 then return 1 end
   return self.train ~= false and self.impl:usesRendezvous() and distributed.size() > 1 and 1 or 0
end

--- Returns how an input is split into the replicas' parts.
function DataParallelTable:inputSplit(input)
   return self.splitSpec or self.policy or self:_firstReplica():inputSplit(input) or self.dimension
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
   if forwardWrites.replay(module, self.gpuAssignments[1], self.impl) then
      self.params.pending:endPass()
   end
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

-- Splits an input.
-- @param keep true: parts that a module has written to since are not reused: if the module works in
--    place, they are its output, which a backward may need
function DataParallelTable:_cutInput(input, keep, like)
   local state = self.state
   if keep and state.written ~= scatter.version(self.inputGpu) then state.input = {} end
   local used, before = self:_scatterInto('inputGpu', 'input', input, state.inputSplit, like,
      'that of the last forward')
   state.written = scatter.version(self.inputGpu)
   return used, before
end

-- Splits an input, unless it is nil or the input of the last forward.
function DataParallelTable:_takeInput(input)
   if input == nil or scatter.wasOf(self.state.input, self.inputGpu, input) then return end
   local used = self.used
   self.used = nil -- unless this one fits
   self:_cutInput(input, true, self.inputGpu)
   self.used = used
end

-- Runs a method of every replica that got rows, with the replica's part of gradOutput. With
-- reducing, the reduction of gradients may overlap with the method.
function DataParallelTable:_backward(method, input, gradOutput, scale, reducing)
   if not self.used then fail('%s needs a forward before it', method) end
   self:_takeInput(input)
   self.state.awaitsBackward = false
   self:_applyScriptChanges()
   if self.params:hasMoved() then self:_updateLayout() end
   if self.impl.modules ~= self.impl.called then
      self.used = nil
      fail('%s: the network was changed after its forward, and its replicas were rebuilt; call'
         .. ' forward again', method)
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

-- Returns true if the reduction of gradients may overlap with the backward pass. It must not if
-- replicas communicate with other ranks within the pass: buckets would be sent between those
-- exchanges.
function DataParallelTable:_overlaps()
   local sender = self.params.sender
   return self.overlap and not (sender and (sender.waits or self.impl:usesRendezvous()))
end

-- Runs a method that accumulates gradients, as _backward does, and sums the gradients in replica 1.
function DataParallelTable:_accumulate(method, input, gradOutput, scale)
   self.params.pending:check()
   local before = self.params.gradient and self.params:gradientVersion()
   local ok, result = pcall(self._backward, self, method, input, gradOutput, scale or 1,
      (self.overlap or self.params.sender) and self.flattenParams and not self.inNoSync)
   if not ok then
      if self.used then self.params:failBackward(before) end
      error(result, 0)
   end
   if self.inNoSync then self.params:holdPending()
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

for name, method in pairs(sync) do DataParallelTable[name] = method end
for name, method in pairs(methods) do DataParallelTable[name] = method end
DataParallelTable.__clone = serial.clone -- dpt.clone calls it
DataParallelTable.__write, DataParallelTable.__read = serial.write, serial.read

return DataParallelTable
