--- dpt.nn.DistributedDataParallel.sync: makes the ranks' networks equal and keeps them so.
--
-- Invariant: before any part of a network is sent, all ranks have verified that they have the same
-- network, with parameters and gradients in the same segments. From then on parameters and
-- gradients are views of flat tensors; if they share a flat tensor with another network, they stay
-- in it. The ranks compare again if a tensor was replaced or has moved.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local groups = require 'dpt.distributed.group'
local Params = require 'dpt.parallel.params'
local buffers = require 'dpt.parallel.params.buffers'
local layout = require 'dpt.parallel.params.layout'
local digest = require 'dpt.parallel.ranks.digest'
local dptffi = require 'dpt.ffi'
local forwardWrites = require 'dpt.parallel.params.forward_writes'
local exchange = require 'dpt.parallel.ranks.exchange'
local generators = require 'dpt.parallel.ranks.generators'
local options = require 'dpt.nn.DistributedDataParallel.options'

local sync = {}

local NAME = 'nn.DistributedDataParallel'

-- Returns the parameters whose used rows a forward changes (nn.LookupTable's maxNorm).
local function rowLimitedParameters(self)
   local list = {}
   for _, inner in ipairs(self.modules[1]:listModules()) do
      if inner.maxNorm and inner.weight then list[#list + 1] = inner.weight end
   end
   return list
end

-- Raises if layers sum over all ranks, but only some of the ranks have the network.
function sync:_checkLayers()
   if self.group == groups.world then return end
   for i, inner in ipairs(self.modules[1]:listModules()) do
      if inner.meetsReplicas and not inner.group then
         dptffi.fail('%s: option group is %s, but module %d, an %s, adds up over all ranks; use'
            .. ' nn.SyncBatchNormalization.convert(network, {group = group})', NAME,
            tostring(self.group), i, torch.type(inner))
      end
   end
end

-- Raises unless all ranks have the same network, and resets the state that depends on it.
function sync:_compare()
   local module = self.modules[1]
   -- only the first time: later, fields may hold results of passes, which may differ between ranks
   local fields = self.params and {} or digest.fields(module)
   digest.compare(NAME, digest.of(module, buffers.statistics(module), options.texts(self)), fields,
      self.group)
   self:_checkLayers()
   self.parallelTable = torch.isTypeOf(module, 'nn.DataParallelTable') and module or nil
   self.order, self.ordered = nil, false
   local devices = self.parallelTable and #module.gpuAssignments or 1
   for _, numbers in ipairs(exchange(self.group, {devices})) do
      self.sender.parts = math.max(self.sender.parts, numbers[1])
   end
   self.limitsRows = #rowLimitedParameters(self) > 0
   if self.parallelTable then return end
   self.params = Params.new{parameters = 0, gradients = 0, buffers = 0}
   self.dispatcher = {run = function(_, f, ...) return {f(module, 1, ...)} end}
end

-- Returns the device of a network on one device: its parameters' or, if it has none, its outputs'.
local function deviceOf(module)
   local first = (module:parameters() or {})[1]
   if first then return comm.device(first) end
   return module:type():find '^torch%.Cuda' and cutorch.getDevice() or 0
end

-- Builds the layout of the parameters.
-- @param whole see layout.flatten
local function buildLayout(self, whole)
   local module = self.modules[1]
   if self.parallelTable then
      self.parallelTable.flattenParams = true
      if whole then
         self.parallelTable:flattenParameters()
      else
         self.parallelTable:_updateLayout()
      end
      self.params = self.parallelTable.params
   else
      self.device = deviceOf(module)
      self.params:flatten(module, self.device, NAME, whole)
      self.params:build(module, self.device, self.dispatcher)
   end
end

-- Builds the same layout of parameters on all ranks, because collectives send its segments.
local function buildSameLayout(self)
   buildLayout(self)
   local module = self.modules[1]
   if not digest.difference(digest.places(module, self.params), self.group) then return end
   buildLayout(self, true)
   local difference = digest.difference(digest.places(module, self.params), self.group)
   if difference then
      dptffi.fail('%s: ranks differ: %s; call getParameters of the same modules, in the same order,'
         .. ' on all ranks', NAME, difference)
   end
end

-- Rebuilds the layout if parameters have moved.
-- @return true if they had and the ranks have compared the network; nil the first time
local function updateLayoutIfMoved(self)
   local module, before = self.modules[1], self.recordedLayout
   if self.parallelTable and before then buildLayout(self) end -- its replicas may be missing
   local changed = not before or layout.isOther(before, module) or layout.hasMoved(before)
   if changed then
      if before then
         self:_rejectPending()
         self:_compare()
      end
      buildSameLayout(self)
   end
   self.recordedLayout = self.params.recordedLayout
   return before and changed
end

local function sendParameters(self)
   for _, t in ipairs(self.params:trained()) do
      self.sentBytes.parameters = self.sentBytes.parameters + t:nElement() * t:elementSize()
      distributed.broadcast(t, 0, self.group)
   end
end

--- Returns the flat parameters and gradients. If a script has changed the network, rebuilds the
-- layout and copies rank 0's parameters to all ranks.
function sync:_updateLayout()
   local changed = updateLayoutIfMoved(self)
   self.params.sender, self.params.order = self.sender, self.order
   self.sender.waits = not self.overlap
   if changed then sendParameters(self) end
   return self.params
end

-- Calls f(...), a forward of this rank only, and restores the parameters after it.
function sync:_forwardAlone(f, ...)
   local list = rowLimitedParameters(self)
   if #list == 0 then return f(...) end
   local kept = {}
   for i, t in ipairs(list) do kept[i] = cutorch.withDeviceOf(t, t.clone, t) end
   local ok, result = pcall(f, ...)
   for i, t in ipairs(list) do t:copy(kept[i]) end
   if not ok then error(result, 0) end
   return result
end

-- Calls f(...), a forward in training, and applies other ranks' changes to rows of parameters.
function sync:_forwardShared(f, ...)
   if not self.limitsRows then
      local result = f(...)
      local network = self.parallelTable or self
      if #forwardWrites.takeOwn(network.modules[1]) > 0 then
         dptffi.fail('%s: a forward has changed rows of parameters on this rank only; set maxNorm'
            .. ' of nn.LookupTable before the network is wrapped', NAME)
      end
      return result
   end
   if self.inNoSync then
      dptffi.fail('%s: the forward limits the norm of rows of parameters (maxNorm of'
         .. ' nn.LookupTable), which is not supported in noSync; limit all rows after the step',
         NAME)
   end
   local result = f(...)
   local module = self.parallelTable and self.parallelTable.modules[1] or self.modules[1]
   local device = self.device or self.parallelTable.gpuAssignments[1]
   local all = distributed.allGatherValue(forwardWrites.takeOwn(module), self.group)
   for r, list in ipairs(all) do
      if r - 1 ~= self.rank then
         if device > 0 then
            for _, effect in ipairs(list) do
               effect[3] = cutorch.withDevice(device, effect[3].cudaLong, effect[3])
            end
            cutorch.withDevice(device, forwardWrites.apply, module, list)
         else
            forwardWrites.apply(module, list)
         end
      end
   end
   self.params.pending:endPass()
   return result
end

-- Makes the ranks of a new network equal. With equal generators, passes draw random numbers as
-- parts of one batch, and all ranks get the same order of data.
function sync:_synchronizeNew()
   self:_compare()
   generators.share(NAME, cutorch.getDeviceCount(), self.group)
   self:syncParameters()
end

--- Copies rank 0's parameters and running statistics to all ranks.
-- @function nn.DistributedDataParallel:syncParameters
-- @as ofranks
-- @return nothing
-- @usage local net = nn.DistributedDataParallel(nn.Add(2))
--    net:get(1).bias:fill(3)
--    net:syncParameters()
--    return net:get(1).bias --> [3 3]
function sync:syncParameters()
   if self.ranks == 1 then return end
   self:_updateLayout()
   sendParameters(self)
   local list = buffers.statistics(self.modules[1])
   if #list > 0 then distributed.broadcast(list, 0, self.group) end
   self.statisticsUpdated, self.updatedWhilePending = false, false
end

-- Averages over the ranks that had rows in the last pass; the others' statistics have not changed.
local function average(self, list)
   local active = self.active
   if not active or active.count == 0 or active.count == self.ranks then
      distributed.allReduce(list, 'mean', self.group)
      return
   end
   if not active.isOwn then
      for _, t in ipairs(list) do t:zero() end
   end
   distributed.allReduce(list, 'sum', self.group)
   for _, t in ipairs(list) do t:div(active.count) end
end

--- Makes running statistics equal on all ranks, by the rule in the field buffers: those of the
-- first rank that had rows in the last pass, or the average over all that had. The statistics of an
-- nn.DataParallelTable are replica 1's, or the replicas' average if its field says so.
-- @function nn.DistributedDataParallel:syncBuffers
-- @as ofranks
-- @return nothing
-- @usage local net = nn.DistributedDataParallel(nn.BatchNormalization(2))
--    net:forward(torch.ones(4, 2))
--    net:syncBuffers()
--    return net:get(1).running_mean --> [0.1 0.1]
function sync:syncBuffers()
   if self.ranks == 1 or self.buffers == 'own' then return end
   local list = buffers.statistics(self.modules[1])
   if #list == 0 then return end
   for _, module in ipairs(self.modules[1]:listModules()) do
      local isTable = torch.isTypeOf(module, 'nn.DataParallelTable')
      if isTable and module.buffers == 'average' then module:syncBuffers() end
   end
   for _, t in ipairs(list) do
      self.sentBytes.buffers = self.sentBytes.buffers + t:nElement() * t:elementSize()
   end
   if self.buffers == 'first' then
      distributed.broadcast(list, self.active and self.active.first or 0, self.group)
   else
      average(self, list)
   end
   self.statisticsUpdated = false
end

return sync
