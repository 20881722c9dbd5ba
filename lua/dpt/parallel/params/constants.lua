--- dpt.parallel.params.constants: copies to the other replicas the tensors in replica 1's modules
-- that a script writes between passes, as in `net:findModules('nn.Constant')[1].value:fill(0)`.
--
-- Invariant: it watches the device tensors in modules and in plain tables inside them, as listed by
-- the snapshot. It excludes parameters, gradients and running statistics, which other files copy,
-- and tensors that a pass has written to, which are each replica's buffers. So a write between two
-- passes comes from a script and is copied to the other replicas. (Storages in host memory do not
-- count writes.)
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local Snapshot = require 'dpt.parallel.params.snapshot'
local core = require 'dpt.tensor.core'
local extent = core.extent

local Constants = {}
Constants.__index = Constants

local WEAK = {__mode = 'v'} -- does not keep alive what a module has dropped

-- Returns how often a tensor's storage was written to, and its address.
local function stateOf(t)
   if not t or t.storage_ == nil then return 0, 0 end -- collected or without memory
   return core.writes(t), comm.address(t)
end

-- Returns true if tensor k of the list was written to, or has another storage.
local function hasChanged(self, k)
   local writes, address = stateOf(self.list[k])
   return self.writes[k] ~= writes or self.addresses[k] ~= address
end

-- Returns the elements of parameters, gradients and statistics, as lists of {first, last} by
-- address of the storage; and the tensors themselves, as the keys of a table.
local function findSynchronized(root)
   local known = {}
   local function add(list)
      for _, t in pairs(list or {}) do
         if t.storage_ ~= nil then
            local address = comm.address(t)
            known[address] = known[address] or {}
            known[t] = true
            table.insert(known[address], {extent(t)})
         end
      end
   end
   local parameters, gradients = root:parameters()
   add(parameters)
   add(gradients)
   add((root:workingParameters()))
   for _, module in ipairs(root:listModules()) do add(module:runningStatistics()) end
   return known
end

-- Returns true if a tensor shares one of these elements. (A frozen layer's weight may lie between
-- them in the same storage.)
local function overlapsAny(known, t)
   if known[t] then return true end
   local first, last = extent(t)
   for _, run in ipairs(t.storage_ ~= nil and known[comm.address(t)] or {}) do
      if run[1] <= last and run[2] >= first then return true end
   end
   return false
end

local function reset(self)
   self.list, self.slots, self.n = setmetatable({}, WEAK), {}, 0
   self.writes, self.addresses = {}, {}
end

local function add(self, t, slot)
   self.n = self.n + 1
   self.list[self.n], self.slots[self.n] = t, slot
end

--- Creates an object that watches nothing.
-- @param bytes its field buffers counts the bytes copied
function Constants.new(bytes)
   local self = setmetatable({bytes = bytes, buffers = setmetatable({}, {__mode = 'k'})}, Constants)
   reset(self)
   return self
end

-- Lists the tensors of a snapshot.
local function listTensors(self, snapshot)
   local known, first = findSynchronized(snapshot.root), 1
   reset(self)
   self.values, self.parents = snapshot.values, snapshot.parents
   self.parentKeys = snapshot.parentKeys
   for o in ipairs(snapshot.objects) do
      for n = first, snapshot.ends[o] do
         local t = snapshot.values[n]
         if not snapshot.passing[n] and torch.isTensor(t) and not self.buffers[t]
            and not overlapsAny(known, t) then
            add(self, t, {o, snapshot.keys[n]})
         end
      end
      first = snapshot.ends[o] + 1
   end
end

-- Returns true if one of the tensors was written to.
local function isWritten(self)
   for k = 1, self.n do
      if self.list[k] and hasChanged(self, k) then return true end
   end
   return false
end

local function recordWrites(self)
   for k = 1, self.n do self.writes[k], self.addresses[k] = stateOf(self.list[k]) end
end

-- Removes tensors that the pass has written to from the list.
local function dropBuffers(self)
   local list, slots = {}, {}
   for k = 1, self.n do
      local t = self.list[k]
      if t and hasChanged(self, k) then
         self.buffers[t] = true
      elseif t then
         list[#list + 1], slots[#slots + 1] = t, self.slots[k]
      end
   end
   reset(self)
   for k, t in ipairs(list) do add(self, t, slots[k]) end
end

--- Records that all replicas have replica 1's values.
-- @param pass true if a pass has made all writes since the last call
function Constants:take(snapshot, pass)
   if self.values ~= snapshot.values then
      listTensors(self, snapshot)
   elseif not isWritten(self) then
      return
   elseif pass then
      dropBuffers(self)
   end
   recordWrites(self)
end

--- Returns the tensors that a script has written to since the last take, and their paths, or nil.
function Constants:written()
   if not isWritten(self) then return nil end
   local paths, tensors = {}, {}
   for k = 1, self.n do
      local t = self.list[k]
      if t and hasChanged(self, k) then
         tensors[#tensors + 1] = t
         paths[#paths + 1] = Snapshot.path(self.parents, self.parentKeys, unpack(self.slots[k]))
      end
   end
   return #tensors > 0 and {paths = paths, tensors = tensors} or nil
end

--- Returns the tensors at these paths in a replica, false where there is none (run by a
-- dispatcher).
function Constants.collect(replica, _, paths)
   local found = {}
   for k, path in ipairs(paths) do
      local value = Snapshot.at(replica, path)
      found[k] = torch.isTensor(value) and value or false
   end
   return found
end

local function isCopyable(a, b)
   return b and torch.type(a) == torch.type(b) and a:isSameSizeAs(b) and a:isContiguous()
      and b:isContiguous()
end

--- Copies the written tensors to the other replicas.
-- @return true if all replicas have such tensors
function Constants:copyWritten(written, dispatcher)
   local copies = {}
   for i, list in ipairs(dispatcher:run(Constants.collect, written.paths)) do
      for k, t in ipairs(i > 1 and list or {}) do
         if not isCopyable(written.tensors[k], t) then return false end
         copies[#copies + 1] = t
      end
   end
   comm.count(self.bytes, 'buffers', comm.broadcastInto, written.tensors, copies)
   return true
end

return Constants
