--- dpt.parallel.params.buffers: synchronizes the running statistics of the replicas.
--
-- Invariant: in training each replica updates its own statistics from its own rows. Only what a
-- script writes to the statistics of replica 1 is copied to the others. sync makes statistics equal
-- on all replicas: to replica 1's, or to the average over the replicas that have updated theirs
-- since the last sync (integers: to replica 1's). They are the tensors that a module's
-- runningStatistics() lists. Copies that would change nothing are skipped.
local comm = require 'dpt.comm'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail

local Buffers = {}
Buffers.__index = Buffers

--- Creates an object without replicas.
-- @param bytes its field buffers counts the bytes copied
function Buffers.new(bytes)
   return setmetatable({bytes = bytes, versions = {}}, Buffers)
end

--- Returns the running statistics of a network, shared ones once.
function Buffers.statistics(module)
   local list, seen = {}, {}
   for _, inner in ipairs(module:listModules()) do
      for _, t in ipairs(inner:runningStatistics()) do
         if not seen[t] then
            seen[t] = true
            list[#list + 1] = t
         end
      end
   end
   return list
end

--- Returns the statistics of a replica that are on a device (run by a dispatcher).
function Buffers.collect(replica)
   local list = {}
   for _, t in ipairs(Buffers.statistics(replica)) do
      if comm.device(t) > 0 then list[#list + 1] = t end
   end
   return list
end

--- Must be called after the replicas have been created; records that nothing has changed.
function Buffers:setReplicas(dispatcher)
   self:recordVersions(dispatcher:run(Buffers.collect))
end

function Buffers:recordVersions(lists)
   self.lists = lists
   for i, list in ipairs(lists) do self.versions[i] = comm.version(list) end
end

-- Sets the first list's tensors to the average of the lists that changed since the last sync.
function Buffers:average(lists)
   local sums, sources, count = {}, {}, 0
   for i, list in ipairs(lists) do
      local changed = self.versions[i] ~= comm.version(list)
      if changed then count = count + 1 end
      for _, t in ipairs(list) do
         if core.realNames[t.kind_] and i == 1 then -- i == 1 has changed: see sync
            sums[#sums + 1] = t
         elseif core.realNames[t.kind_] and changed then
            sources[#sources + 1] = t
         end
      end
   end
   comm.reduceInto(sums, sources)
   for _, t in ipairs(sums) do t:div(count) end
end

-- Returns a number that changes when a tensor gets another storage.
local function addresses(list)
   local sum = 0
   for _, t in ipairs(list) do
      if t.storage_ ~= nil then sum = sum + comm.address(t) end
   end
   return sum
end

--- Records replica 1's present statistics as those that all replicas continue from, or as written
-- by a pass.
function Buffers:takeSnapshot()
   local list = self.lists and self.lists[1]
   if list then self.firstVersion, self.firstAddresses = comm.version(list), addresses(list) end
end

--- Copies replica 1's statistics to the other replicas if a script has written to them since.
function Buffers:broadcastWritten()
   local lists = self.lists
   if not self.firstVersion then return end
   if self.firstVersion ~= comm.version(lists[1]) or self.firstAddresses ~= addresses(lists[1]) then
      self:broadcast(lists)
      self:takeSnapshot()
   end
end

-- Copies the first list's statistics to the others.
function Buffers:broadcast(lists)
   local others = {}
   for i = 2, #lists do
      for _, t in ipairs(lists[i]) do others[#others + 1] = t end
   end
   comm.count(self.bytes, 'buffers', comm.broadcastInto, lists[1], others)
end

--- Writes to replica 1 the statistics that only the others have, before they are rebuilt.
-- @param policy as for sync
function Buffers:flush(policy)
   local lists = self.lists
   if policy == 'average' and lists and lists[1] and self.versions[1] ~= comm.version(lists[1]) then
      comm.count(self.bytes, 'buffers', self.average, self, lists)
   end
end

--- Makes the statistics of all replicas equal if those of replica 1 have changed.
-- @param module replica 1
-- @param dispatcher of the replicas
-- @param policy 'first': copies replica 1's; 'average'
function Buffers:sync(module, dispatcher, policy)
   local source = Buffers.collect(module)
   if #source == 0 or self.versions[1] == comm.version(source) then return end
   local lists = dispatcher:run(Buffers.collect)
   for i, list in ipairs(lists) do
      if #list ~= #source then
         fail('replica %d has %d running statistics, replica 1 has %d', i, #list, #source)
      end
   end
   if policy == 'average' then comm.count(self.bytes, 'buffers', self.average, self, lists) end
   self:broadcast(lists)
   self:recordVersions(lists)
   self:takeSnapshot()
end

return Buffers
