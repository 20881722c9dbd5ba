--- dpt.parallel.params: the parameters and gradients of all replicas as flat buffers.
--
-- What must stay true: replica 1 is the truth. Seen as pieces (runs of elements of one storage,
-- each element in one piece), its tensors stay where they are; parameters and gradients of replicas
-- 2..n are views of one flat buffer each for an element type, with the same pieces one after the
-- other. A broadcast moves the bytes of the pieces to each replica, and none where nothing has
-- written to replica 1 since the last one; a reduction adds in the order of the replicas and leaves
-- the gradients of replicas 2..n zero. While it is put off (pending), nobody but the replicas
-- themselves may write to gradients.
local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail
local comm = require 'dpt.comm'
local flatten = require 'dpt.parallel.flatten'
local Overlap = require 'dpt.parallel.overlap'

local Params = {}
Params.__index = Params

--- Nothing known yet: build() is to be called.
-- @param bytes counts what is copied in its fields parameters and gradients
function Params.new(bytes)
   return setmetatable({bytes = bytes}, Params)
end

--- The parameters and the gradients of a replica, as lists (run by a dispatcher).
function Params.list(replica)
   local tensors, gradients = replica:parameters()
   return {tensors or {}, gradients or {}}
end

-- A list of tensors and where each lies; parameters and gradients stand in one list of 2n.
local function look(module)
   local tensors, gradients = module:parameters()
   local list = {n = tensors and #tensors or 0}
   for i = 1, list.n do
      list[i], list[list.n + i] = tensors[i], gradients[i]
   end
   list.stores, list.firsts = {}, {}
   for i, t in ipairs(list) do
      list.stores[i], list.firsts[i] = comm.address(t), t:storageOffset()
   end
   return list
end

--- Whether replica 1's tensors lie elsewhere than at the last build ('moved'), or are others
-- ('other'), so that the replicas' may not fit them.
function Params:changed(module)
   local old = self.seen
   if not old then return 'moved' end
   local tensors, gradients = module:parameters()
   local n, moved = tensors and #tensors or 0, false
   if old.n ~= n then return 'other' end
   for i = 1, 2 * n do
      local t = i <= n and tensors[i] or gradients[i - n]
      if not rawequal(old[i], t) then return 'other' end
      moved = moved or old.stores[i] ~= comm.address(t) or old.firsts[i] ~= t:storageOffset()
   end
   return moved and 'moved' or nil
end

-- Replica 1 must be on the first device of the list.
local function checkPlace(seen, wanted)
   for i, t in ipairs(seen) do
      local device = comm.device(t)
      if t:nElement() > 0 and device ~= wanted then
         fail('%s %d of the network is a %s %s, wanted it on device %d, the first of the list: %s',
            i > seen.n and 'gradient' or 'parameter', (i - 1) % seen.n + 1, t:type(),
            device == 0 and 'in host memory' or 'on device ' .. device, wanted,
            (device == 0 and 'cutorch.withDevice(%d, function() network:cuda() end)'
               or 'nn.utils.moveTo(network, %d)'):format(wanted))
      end
   end
end

-- The types of replica 1's parameters in order of appearance, each with the layout of the
-- parameters and of the gradients; `first` and `last` in the list of both.
local function layouts(seen)
   local groups, known = {}, {}
   for i = 1, seen.n do
      local name = torch.type(seen[i])
      if torch.type(seen[seen.n + i]) ~= name then
         error(('parameter %d is a %s and its gradient a %s, wanted one type for both'):format(i,
            name, torch.type(seen[seen.n + i])), 0)
      end
      if not known[name] then
         known[name] = {type = name, members = {}}
         groups[#groups + 1] = known[name]
      end
      table.insert(known[name].members, i)
   end
   for _, group in ipairs(groups) do
      for half = 1, 2 do -- parameters, gradients
         local list = {}
         for k, i in ipairs(group.members) do list[k] = seen[(half - 1) * seen.n + i] end
         group[half] = flatten.layout(list)
      end
   end
   return groups
end

-- What a replica must know to lay out its tensors: a list of halves of groups, parameters first,
-- each with its type, its number of elements and, for every tensor that has elements, its place in
-- the replica's list and in the flat tensor.
local function planOf(groups, seen)
   local plan = {}
   for _, group in ipairs(groups) do
      for half = 1, 2 do
         local layout = group[half]
         local one = {type = group.type, total = layout.total}
         for k, i in ipairs(group.members) do
            local index = (half - 1) * seen.n + i
            if seen[index]:nElement() > 0 then
               table.insert(one, {index = index, first = layout.places[k],
                  size = seen[index]:size(), stride = layout.strides[k]})
            end
         end
         plan[#plan + 1] = one
      end
   end
   return plan
end

--- Moves the parameters and gradients of a replica into new flat tensors (run by a dispatcher).
-- @return list of them, parameters and gradients in turn; gradients are zero
function Params.lay(replica, i, plan)
   if i == 1 then return nil end
   local tensors, flat = look(replica), {}
   for k, half in ipairs(plan) do
      flat[k] = torch.getmetatable(half.type).new(half.total)
      for _, t in ipairs(half) do
         tensors[t.index]:set(flat[k]:storage(), t.first, t.size, t.stride)
      end
      if k % 2 == 0 and half.total > 0 then flat[k]:zero() end
   end
   return flat
end

-- Appends views of a flat tensor, one for each piece and as long as it, to a list.
local function cut(list, flat, pieces)
   local first = 1
   for _, piece in ipairs(pieces) do
      list[#list + 1] = flat:narrow(1, first, piece:nElement())
      first = first + piece:nElement()
   end
end

--- Lays out the parameters and gradients of the replicas after those of replica 1.
-- @param module replica 1
-- @param device where it must be
-- @param dispatcher what runs the replicas
function Params:build(module, device, dispatcher)
   if self.pending then
      self.pending = nil
      fail('the network was changed while gradients waited for syncGradients(): those of replicas 2'
         .. ' and up are lost, begin again with zeroGradParameters()')
   end
   self.seen = nil -- an error on the way leaves it to be built again
   local seen = look(module)
   checkPlace(seen, device)
   local groups = layouts(seen)
   local plan = planOf(groups, seen)
   local flat = dispatcher:run(Params.lay, plan)
   local values, sums = {}, {} -- of replicas 2..n, one list
   self.truth, self.sum, flat[1] = {}, {}, {}
   for g, group in ipairs(groups) do
      for _, piece in ipairs(group[1].pieces) do table.insert(self.truth, piece) end
      for _, piece in ipairs(group[2].pieces) do table.insert(self.sum, piece) end
      -- replica 1 is flat where its memory is one run
      flat[1][2 * g - 1] = #group[1].pieces == 1 and group[1].pieces[1] or false
      flat[1][2 * g] = #group[2].pieces == 1 and group[2].pieces[1] or false
   end
   for i = 2, #flat do
      for g, group in ipairs(groups) do
         cut(values, flat[i][2 * g - 1], group[1].pieces)
         cut(sums, flat[i][2 * g], group[2].pieces)
      end
   end
   self.groups, self.values, self.sums, self.flat = groups, values, sums, flat
   self.seen, self.version, self.plan, self.overlap = seen, nil, plan, nil
end

--- Makes the parameters of replica 1 itself views of flat tensors, one for each type.
-- @return whether anything moved
function Params:flattenFirst(name)
   local moved = false
   for _, group in ipairs(self.groups) do
      if #group[1].pieces > 1 or #group[2].pieces > 1 then
         local tensors, gradients = {}, {}
         for k, i in ipairs(group.members) do
            tensors[k], gradients[k] = self.seen[i], self.seen[self.seen.n + i]
         end
         flatten.pair(tensors, gradients, name)
         moved = true
      end
   end
   return moved
end

--- Whether something has written to replica 1's parameters since the last broadcast.
function Params:stale()
   return self.version ~= comm.version(self.truth)
end

--- Copies the parameters of replica 1 to the others where they are stale.
function Params:broadcast()
   local version = comm.version(self.truth)
   if self.version ~= version then
      comm.count(self.bytes, 'parameters', comm.broadcastInto, self.truth, self.values)
      self.version = version
   end
end

--- Lets the next reduce begin while the gradients are computed, where they are flat.
-- @param dispatcher what runs the replicas
-- @param used how many compute something
-- @return the function by which the dispatcher must call them for that, or nil
function Params:begin(dispatcher, used)
   if self.overlap == nil then
      self.overlap = Overlap.new(self.plan, self.flat, self.seen.n, dispatcher) or false
   end
   if not self.overlap then return nil end
   self.copied = comm.copied() -- set while an overlapped reduction runs
   self.overlap:begin(used)
   return Overlap.call
end

--- Adds the gradients of replicas 2..n to replica 1's and sets them to zero, also where it fails.
function Params:reduce()
   local begun, before = self.copied, self.copied or comm.copied()
   self.copied = nil
   local ok, message = pcall(function()
      if begun then self.overlap:finish() else comm.reduceInto(self.sum, self.sums, true) end
   end)
   self.bytes.gradients = self.bytes.gradients + comm.copied() - before
   if not ok then
      self:zeroOthers()
      error(message, 0)
   end
   self.pending = nil
end

--- Leaves every replica its gradients until the next reduce.
function Params:defer()
   self.pending = comm.version(self.sum)
end

--- Whether gradients of replicas 2..n wait; raises where something wrote to replica 1's meanwhile.
function Params:checkPending()
   if self.pending and self.pending ~= comm.version(self.sum) then
      fail('gradients were written to while replicas hold parts of them (noSync): call'
         .. ' syncGradients() before, or clear them with zeroGradParameters()')
   end
   return self.pending ~= nil
end

--- Forgets gradients that wait.
function Params:dropPending()
   if self.pending then self:zeroOthers() end
end

--- Sets replica 1's gradients to zero.
function Params:zero()
   for _, piece in ipairs(self.sum) do piece:zero() end
end

--- Sets the gradients of replicas 2..n to zero: what a failed backward left there.
function Params:zeroOthers()
   if self.copied then
      self.copied = nil
      self.overlap:cancel()
   end
   for _, piece in ipairs(self.sums) do piece:zero() end
   self.pending = nil
end

return Params
