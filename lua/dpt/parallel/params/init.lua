--- dpt.parallel.params: the parameters and gradients of all replicas, as flat buffers.
--
-- Invariant: replica 1 is the source. Its tensors are not moved; they are described by segments
-- (runs of elements of one storage, each element in one segment). The tensors of replicas 2..n have
-- the same layout (dpt.parallel.params.layout). A broadcast copies the bytes of the segments to
-- each replica, or nothing if replica 1 was not written to since the last broadcast. A reduction
-- adds in the order of the replicas and sets the gradients of replicas 2..n to zero, unless it is
-- deferred (dpt.parallel.params.pending).
local fail = require('dpt.ffi').fail
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local updates = require 'dpt.updates'
local layout = require 'dpt.parallel.params.layout'
local Overlap = require 'dpt.parallel.params.overlap'
local Pending = require 'dpt.parallel.params.pending'

local Params = {}
Params.__index = Params

--- Creates an object without replicas; build() must be called before use.
-- @param bytes its fields parameters and gradients count the bytes copied
function Params.new(bytes)
   local self = setmetatable({bytes = bytes}, Params)
   self.pending = Pending.new(function(x, dfdx) self:flush(x, dfdx) end, 'replicas')
   return self
end

--- Returns the parameters and the gradients of a replica, as lists (run by a dispatcher).
function Params.list(replica)
   local tensors, gradients = replica:workingParameters()
   return {tensors or {}, gradients or {}}
end

--- Returns 'moved' if replica 1's tensors have other addresses than at the last build, 'other' if
-- they are other tensors, so that the replicas' tensors may not match them; otherwise nil.
-- @param version of replica 1's fields, if known (dpt.parallel.params.snapshot): for one version
-- the fields hold the same tensors
function Params:changed(module, version)
   if not self.recordedLayout then return 'moved' end
   if not version or version ~= self.fields then
      if layout.isOther(self.recordedLayout, module) then return 'other' end
      self.fields = version
   end
   return layout.hasMoved(self.recordedLayout) and 'moved' or nil
end

--- Returns true if replica 1's tensors, known to be the same ones, have moved since the last build.
function Params:hasMoved()
   return not self.recordedLayout or layout.hasMoved(self.recordedLayout)
end

-- Appends to a list one view of a flat tensor for each segment, of the segment's length.
local function cut(list, flat, segments)
   local first = 1
   for _, segment in ipairs(segments) do
      list[#list + 1] = flat:narrow(1, first, segment:nElement())
      first = first + segment:nElement()
   end
end

-- Returns the tensors to be sent for the segments. For a segment with gaps it is a contiguous copy,
-- which is recorded in staged.
local function contiguousSegments(segments, staged)
   local list = {}
   for k, segment in ipairs(segments) do
      list[k] = segment
      if not segment:isContiguous() then
         list[k] = cutorch.withDeviceOf(segment, segment.clone, segment)
         staged[#staged + 1] = {segment, list[k]}
      end
   end
   return list
end

-- Returns the tensor that contains all segments of a group; false if there are several.
local function flatSegment(segments)
   local segment = #segments == 1 and segments[1]
   return segment and segment:dim() == 1 and segment:isContiguous() and segment or false
end

--- Lays out the parameters and gradients of the replicas like those of replica 1.
-- @param module replica 1
-- @param device its required device
-- @param dispatcher of the replicas
function Params:build(module, device, dispatcher)
   self.pending:rejectChange()
   self.recordedLayout, self.fields = nil, nil -- after an error, everything is built again
   local seen = layout.describe(module)
   layout.checkDevice(seen, device)
   self.mixed = module.masters and module or nil -- an nn.MixedPrecision
   local plan, segments = layout.plan(seen, self.mixed and module.masters.copy)
   local flat = dispatcher:run(layout.flattenReplica, plan)
   self.source, self.gradient, self.segments, flat[1] = {}, {}, {segments}, {}
   for h, group in ipairs(segments) do
      local list = h % 2 == 1 and self.source or self.gradient
      for _, segment in ipairs(group) do list[#list + 1] = segment end
      flat[1][h] = flatSegment(group) -- replica 1 is flat if its memory is one run
   end
   self.otherParameters, self.otherGradients = {}, {} -- of replicas 2..n, in one list each
   for i = 2, #flat do
      self.segments[i] = {}
      for h, group in ipairs(segments) do
         self.segments[i][h] = {flat[i][h]}
         cut(h % 2 == 1 and self.otherParameters or self.otherGradients, flat[i][h], group)
      end
   end
   self.staged = {source = {}, gradient = {}}
   self.sendBuffers = contiguousSegments(self.source, self.staged.source)
   self.reduceBuffers = contiguousSegments(self.gradient, self.staged.gradient)
   self.flat, self.plan, self.version, self.overlap, self.isModified = flat, plan, nil, nil, nil
   self.dispatcher = dispatcher
   self.recordedLayout = layout.recordPlaces(seen)
end

--- Makes the parameters of replica 1 views of flat tensors, one per type.
-- @param device its required device
-- @param whole true: includes tensors that share a flat tensor with another network
function Params:flatten(module, device, name, whole)
   if module.masters then return end -- nn.MixedPrecision has made them flat
   local list = layout.describe(module)
   layout.checkDevice(list, device)
   layout.flatten(list, name, whole)
end

--- Returns true if replica 1's parameters and gradients, as built, are one run each per type.
function Params:isFlat()
   for h, group in ipairs(self.plan) do
      if group.total > 0 and not self.flat[1][h] then return false end
   end
   return true
end

--- Records that a script may have changed the replicas.
function Params:markModified()
   self.isModified = true
end

-- Returns true if the replicas' parameters and gradients are still where they were laid out. If so,
-- sets gradients to zero and makes the next broadcast copy everything.
local function repair(self, dispatcher)
   for i, flats in ipairs(dispatcher:run(layout.flats, self.plan)) do
      for h, flat in ipairs(i > 1 and flats or {}) do
         if not flat or flat ~= true and comm.address(flat) ~= comm.address(self.flat[i][h]) then
            return false
         end
      end
   end
   for _, segment in ipairs(self.otherGradients) do segment:zero() end
   self.version, self.isModified = nil, nil
   return true
end

--- Checks that replicas which a script may have changed are still laid out as before, and makes the
-- next broadcast copy everything. Pending gradients are kept.
-- @return true if they must be laid out again
function Params:needsRebuild(dispatcher)
   if not self.isModified then return false end
   if not self.pending:isPending() then return not repair(self, dispatcher) end
   self.version = nil
   return false
end

--- Returns the tensors that optimizers update: the source, or the floats of nn.MixedPrecision.
function Params:trained()
   return self.mixed and {self.mixed.masters.flat} or self.source
end

--- Copies the parameters of replica 1 to the others if they were written to.
function Params:broadcast()
   self.pending:checkUpdate()
   if self.mixed then self.mixed:refresh() end
   local version = comm.version(self.source)
   if self.version ~= version then
      for _, stage in ipairs(self.staged.source) do stage[2]:copy(stage[1]) end
      comm.count(self.bytes, 'parameters', comm.broadcastInto, self.sendBuffers,
         self.otherParameters)
      self.version = version
   end
end

--- Prepares to overlap the next reduction with a pass, unless gradients have gaps.
-- @param dispatcher of the replicas
-- @param used number of replicas that compute something
-- @return the function with which the dispatcher must call the replicas, or nil
function Params:begin(dispatcher, used)
   if self.overlap == nil then
      self.overlap = Overlap.new(self.plan, self.segments, self.recordedLayout.n, dispatcher,
         self.sender, self.order) or false
   end
   if not self.overlap or self.sender and self.sender:isOrdered() then return nil end
   self.copied = comm.copied() -- set while an overlapped reduction runs
   return self.overlap:begin(used)
end

-- Cancels an overlapped reduction.
local function cancel(self)
   if self.copied then
      self.copied = nil
      self.overlap:cancel()
   end
end

local function reduceAll(self)
   for _, stage in ipairs(self.staged.gradient) do stage[2]:copy(stage[1]) end
   if self.sender then self.sender:sendAll(self.reduceBuffers, self.otherGradients)
   elseif #self.otherGradients > 0 then
      comm.reduceInto(self.reduceBuffers, self.otherGradients, true)
   end
   for _, stage in ipairs(self.staged.gradient) do stage[1]:copy(stage[2]) end
end

--- Adds the gradients of replicas 2..n to replica 1's and sets them to zero, even if it fails. With
-- a sender (dpt.parallel.ranks.sender) gradients are summed over all processes, too.
function Params:reduce()
   if self.sender and not self.copied then self:begin(self.dispatcher, #self.flat) end
   local begun, before = self.copied, self.copied or comm.copied()
   self.copied = nil
   local ok, message
   if begun then
      ok, message = pcall(self.overlap.finish, self.overlap)
   else
      ok, message = pcall(reduceAll, self)
   end
   self.bytes.gradients = self.bytes.gradients + comm.copied() - before
   if not ok then
      self:zeroOthers()
      error(message, 0)
   end
   self.pending:clear()
end

--- Keeps every replica's gradients until the next reduce.
function Params:holdPending() self.pending:record(self:trained(), self.gradient) end

--- Reduces pending gradients if x, which an optimizer is about to update with dfdx, is this
-- network's.
function Params:flush(x, dfdx)
   if self.sender or not updates.sharesStorage(self:trained(), x) then return end
   if not updates.sharesStorage(self.gradient, dfdx) then
      fail("the gradient that opfunc returned is a copy of one replica's part, since gradients are"
         .. ' pending (noSync); call syncGradients() in opfunc before copying it')
   end
   if self.pending:check() then self:reduce() end
end

--- Drops pending gradients.
function Params:dropPending()
   if self.pending:isPending() then self:zeroOthers() end
end

--- Sets replica 1's gradients to zero.
function Params:zero()
   for _, segment in ipairs(self.gradient) do segment:zero() end
end

--- Sets the gradients of replicas 2..n to zero.
function Params:zeroOthers()
   cancel(self)
   for _, segment in ipairs(self.otherGradients) do segment:zero() end
   self.pending:clear()
end

--- Returns a number that changes when something writes to a gradient of any replica.
function Params:gradientVersion()
   return comm.version(self.gradient) + comm.version(self.otherGradients)
end

--- Cleans up after a failed backward. Without pending gradients, sets the gradients of replicas
-- 2..n to zero. Pending gradients are kept, or marked as useless if the backward has added to them.
-- @param before gradientVersion() before the backward
function Params:failBackward(before)
   if not self.pending:isPending() then return self:zeroOthers() end
   cancel(self)
   if self:gradientVersion() == before then return end
   local all = {}
   for _, list in ipairs{self.gradient, self.otherGradients} do
      for _, t in ipairs(list) do all[#all + 1] = t end
   end
   self.pending:invalidate(self:trained(), all)
end

return Params
