--- dpt.nn.DataParallelTable.sync: keeps the replicas of a parallel network equal to replica 1.
--
-- Invariant: the next pass applies every change that a script has made to replica 1 since the last
-- pass: it sets settings, copies elements of tensors, copies the network again if its structure
-- differs, and rebuilds the layout if tensors moved. State that only the other replicas hold
-- (pending gradients, statistics) is copied to replica 1 before they are rebuilt. The order is
-- always: fields (dpt.parallel.params.snapshot) and elements (dpt.parallel.params.constants,
-- buffers), then the memory of tensors (dpt.parallel.params.layout), then the values of parameters
-- (dpt.parallel.params).
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local updates = require 'dpt.updates'
local options = require 'dpt.nn.DataParallelTable.options'
local Snapshot = require 'dpt.parallel.params.snapshot'
local child = require 'dpt.nn.child'
local timed = require 'dpt.nn.DataParallelTable.profile'

local sync = {}

local function fail(self, format, ...)
   return dptffi.fail(torch.type(self) .. ': ' .. format, ...)
end

-- Returns replica 1; raises if there is none.
function sync:_firstReplica()
   return self.modules[1] or fail(self, 'nothing was added; call add(module, {devices}) first')
end

-- Makes the replicas if they are missing, and invalidates the layout of the previous ones.
function sync:_makeReplicas()
   if self.impl.modules or not self.modules[1] then return end
   child.rejectDistributed(torch.type(self), 'a pass', self.modules[1], options.WRAPPED)
   self.impl:setup()
   self.params:markModified()
   self.statistics:setReplicas(self.impl)
   self:_takeSnapshot()
end

-- Records that the replicas are equal to replica 1.
-- @param pass true if a pass has ended
function sync:_takeSnapshot(pass)
   if not self.impl.modules or #self.gpuAssignments == 1 then return end
   self.snapshot:take(self.modules[1])
   self.constants:take(self.snapshot, pass)
   self.statistics:takeSnapshot()
end

-- Schedules a rebuild of the replicas, after copying their gradients and statistics to replica 1.
function sync:_scheduleRebuild()
   if not self.params:changed(self.modules[1]) then self:syncGradients() end
   self.statistics:flush(self.buffers)
   self.impl:applyChanges()
end

-- Applies a script's changes to replica 1 since the last pass to the other replicas.
-- @return the snapshot's version if no field has changed
function sync:_applyScriptChanges()
   local first = self:_firstReplica()
   if not self.impl.modules then return end
   if #self.gpuAssignments == 1 then
      if self.impl.modules[1] ~= first then self.impl:applyChanges() end
      return
   end
   self.statistics:broadcastWritten()
   local changed, settings = self.snapshot:changes(first)
   local written = self.constants:written()
   if not changed and not written then return self.snapshot.version end
   if (not changed or settings and Snapshot.applySettings(settings, self.impl, torch.type(self)))
      and (not written or self.constants:copyWritten(written, self.impl)) then
      self:_takeSnapshot()
   else
      self:_scheduleRebuild()
   end
end

function sync:_updateType()
   self._type = options.typeOf(self:_firstReplica()) or self._type
end

-- Rebuilds the layout of the replicas' parameters if replica 1's were replaced or moved.
-- @param version of replica 1's fields, if known
-- @param whole true: they must be one flat tensor, even if they are part of another network's
function sync:_updateLayout(version, whole)
   local params, module, device = self.params, self:_firstReplica(), self.gpuAssignments[1]
   local change = params:changed(module, version)
   if change == 'other' then self.impl:applyChanges() end
   local isDone = self.impl.modules and not change and not params:needsRebuild(self.impl)
   if isDone and (params.flattened or not self.flattenParams)
      and (params:isFlat() or not whole) then return end
   if change then self:_updateType() else self:syncGradients() end
   if self.flattenParams then -- before replicas are made, so that they are flat, too
      params:flatten(module, device, torch.type(self), whole)
   end
   self:_makeReplicas()
   params:build(module, device, self.impl)
   params.flattened = self.flattenParams
   self.flattenedParams = self.flattenParams and not params.mixed and params:isFlat()
      and params.flat or nil
end

-- Makes the replicas and their flat buffers if they are missing or replica 1 has changed.
function sync:_prepare()
   self:_updateLayout(self:_applyScriptChanges())
end

--- Copies replica 1's parameters to the other replicas if they have changed; in evaluation mode,
-- running statistics as well.
-- @function nn.DataParallelTable:syncParameters
-- @as ofreplicas
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2})
--    net:get(1).bias:fill(7)
--    net:syncParameters()
--    return net:applyToReplicas(function(r) return r.bias[1] end) --> {7 7}
function sync:syncParameters()
   self:_prepare()
   timed(self, 'broadcast', self.params.broadcast, self.params)
   if self.train == false then self:syncBuffers() end
   self.needsSync = false
end

--- Gives all replicas the same running statistics, by the rule in the field buffers.
-- @function nn.DataParallelTable:syncBuffers
-- @as ofreplicas
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.BatchNormalization(2):cuda(), {1, 2})
--    net:forward(torch.CudaTensor(8, 2):normal())
--    net:syncBuffers()
--    local m = net:applyToReplicas(function(r) return r.running_mean end)
--    return m[1]:float() - m[2]:float() --> [0 0]
function sync:syncBuffers()
   options.checkFields(self)
   if self.impl.modules then self.statistics:sync(self:_firstReplica(), self.impl, self.buffers) end
end

--- Prepares for a script that changes the replicas: makes them as copies of replica 1.
-- @function nn.DataParallelTable:scriptBegins
-- @as author
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2})
--    net:scriptBegins()
--    return net.impl:get(2) --> nn.Linear
function sync:scriptBegins()
   self:_applyScriptChanges()
   self:_makeReplicas()
end

--- Ends a script's changes to all replicas. Their parameters count as unknown until the next sync.
-- @function nn.DataParallelTable:scriptEnded
-- @as author
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.Add(1):cuda(), {1, 2})
--    net:scriptBegins()
--    for i = 1, 2 do net.impl:get(i).bias:fill(3) end
--    net:scriptEnded()
--    return net:forward(torch.CudaTensor(2, 1):zero()) --> [3 3]
function sync:scriptEnded()
   self:_takeSnapshot()
   self.params:markModified()
end

--- Makes the parameters of every replica views of one flat tensor (one per element type):
-- flattenedParams[i] is {parameters, gradients} of replica i.
-- @function nn.DataParallelTable:flattenParameters
-- @as ofreplicas
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2})
--    net:flattenParameters()
--    return net.flattenedParams[2][1]:nElement() --> 3
function sync:flattenParameters()
   self.flattenParams = true
   self:_updateLayout(nil, true)
end

--- Returns replica 1's flat parameters and gradients; every call returns the same memory.
function sync:getParameters()
   self:flattenParameters()
   local first = self:_firstReplica()
   if first.masters then return first:getParameters() end
   local flat = self.flattenedParams[1]
   if #flat == 0 then return torch.Tensor(), torch.Tensor() end
   if #flat > 2 then
      fail(self, 'getParameters requires parameters of one type, got %s and %s; flattenedParams'
         .. ' has all', torch.type(flat[1]), torch.type(flat[3]))
   end
   if not flat[2] or flat[1]:nElement() ~= flat[2]:nElement() then
      fail(self, 'getParameters wants a gradient for every parameter, some have none')
   end
   return updates.registerFlat(flat[1]), updates.registerFlat(flat[2])
end

--- Calls f(...) without reducing gradients: a backward inside it leaves the gradients on their
-- replicas and copies nothing. The next backward outside, or syncGradients, sums them. Do not
-- change parameters in between.
-- @function nn.DataParallelTable:noSync
-- @as ofreplicas
-- @follows PyTorch's no_sync
-- @param f function: runs the passes
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage local net, x = nn.DataParallelTable(1) :add(nn.Linear(2, 1):cuda(), {1, 2}),
--       torch.CudaTensor(4, 2):fill(1)
--    net:zeroGradParameters()
--    net:forward(x)
--    net:noSync(function() net:backward(x, torch.CudaTensor(4, 1):fill(1)) end)
--    net:syncGradients()
--    return net:get(1).gradBias --> [4]
function sync:noSync(f, ...)
   options.checkFunction(torch.type(self), 'noSync', f)
   local before = self.inNoSync
   self.inNoSync = true
   local results = {pcall(f, ...)}
   self.inNoSync = before
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

--- Sums the gradients that noSync left on the replicas.
-- @function nn.DataParallelTable:syncGradients
-- @as ofreplicas
-- @return nothing
-- @usage local x = torch.ones(4, 1):cuda()
--    local net = nn.DataParallelTable(1):add(nn.Add(1):cuda(), {1, 2})
--    net:zeroGradParameters()
--    net:forward(x)
--    net:noSync(function() net:backward(x, x) end)
--    net:syncGradients()
--    return net:get(1).gradBias --> [4]
function sync:syncGradients()
   if self.params.pending:check() then self.params:reduce() end
end

--- Sets the gradients of all replicas to zero, pending ones included.
function sync:zeroGradParameters()
   self.params:dropPending()
   self:_updateLayout(self.snapshot:current(self:_firstReplica()))
   self.params:zero()
end

-- Copies all state that only the other replicas hold to replica 1.
function sync:_copyStateToFirst()
   if self.params.sender and self.params.pending:isPending() then
      fail(self, 'cannot be copied or saved while gradients wait on the ranks (noSync); call'
         .. ' syncGradients() of the nn.DistributedDataParallel on all ranks first')
   end
   self:syncGradients()
   self:syncBuffers()
end

return sync
