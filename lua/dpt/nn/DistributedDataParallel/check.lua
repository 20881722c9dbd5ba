--- dpt.nn.DistributedDataParallel.check: finds ranks whose values have diverged.
--
-- Invariant: all ranks reach the same verdict and raise the same message, which names the first
-- tensor that differs. If nothing differs, each rank has sent 8 bytes. Values that differ by design
-- are skipped: partitions of a sharded optimizer state, running statistics that each rank keeps
-- (buffers = 'own'), and statistics that a forward has updated, until the next backward.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'
local buffers = require 'dpt.parallel.params.buffers'
local digest = require 'dpt.parallel.ranks.digest'
local exchange = require 'dpt.parallel.ranks.exchange'
local hash = require 'dpt.parallel.ranks.hash'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local check = {}

local NAME = 'nn.DistributedDataParallel: checkAlike'

-- Returns the keys of a table, numbers first.
local function sortedKeys(t)
   local keys = {}
   for key in next, t do
      if type(key) == 'number' or type(key) == 'string' then keys[#keys + 1] = key end
   end
   table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) == 'number' end
      return a < b
   end)
   return keys
end

-- Returns true if a value of an optimizer's state belongs to this rank only: optim's
-- ZeroRedundancyOptimizer partitions tensors of n elements, and a rank without a part counts no
-- steps.
local function isOwn(part, ranks, value)
   if part.n < ranks then return true end
   local count = torch.isTensor(value) and value:nElement()
   local each = math.floor(part.n / ranks)
   return count == each or count == each + part.n % ranks
end

-- Appends the values of an optimizer's state.
local function addState(list, name, state, part, ranks, seen)
   seen[state] = true
   for _, key in ipairs(sortedKeys(state)) do
      local value = state[key]
      local its = type(key) == 'number' and ('%s[%s]'):format(name, key) or name .. '.' .. key
      if torch.type(value) == 'table' then
         if value ~= part and not seen[value] then
            addState(list, its, value, part, ranks, seen)
         end
      elseif (torch.isTensor(value) or type(value) == 'number' or type(value) == 'string'
         or type(value) == 'boolean') and not (part and isOwn(part, ranks, value)) then
         list[#list + 1] = {name = its, value = value}
      end
   end
end

-- Returns the values that must be equal on all ranks, in the same order on all.
local function valuesOf(self, state)
   local list, module = {}, self.modules[1]
   local names = digest.names(module)
   for i, t in ipairs(module:parameters() or {}) do
      list[i] = {name = names[t] or 'parameter ' .. i, value = t}
   end
   local differ = self.statisticsUpdated or self.buffers == 'own'
   for i, t in ipairs(differ and {} or buffers.statistics(module)) do
      list[#list + 1] = {name = names[t] or 'buffer ' .. i, value = t}
   end
   if state then addState(list, 'state', state, state.zeroPart, self.ranks, {}) end
   return list
end

-- Raises if an entry of one rank differs from another rank's entry of that name, or has no
-- counterpart.
local function compare(group, r, list, other, others)
   local byName = {}
   for _, entry in ipairs(others) do byName[entry.name] = entry end
   for _, entry in ipairs(list) do
      local its = byName[entry.name]
      if not its then
         fail('%s: rank %d has no %s, rank %d has one', NAME, group:globalRank(other), entry.name,
            group:globalRank(r))
      elseif its.hash ~= entry.hash then
         fail('%s: %s differs: rank %d has another value than rank %d', NAME, entry.name,
            group:globalRank(other), group:globalRank(r))
      end
   end
end

-- Finds the first value that differs, and raises.
local function find(self, list)
   local own = {}
   for i, entry in ipairs(list) do
      own[i] = {name = entry.name, hash = hash.number(hash.add(hash.start, entry.value))}
   end
   local all = distributed.allGatherValue(own, self.group)
   for r = 2, #all do
      compare(self.group, 0, all[1], r - 1, all[r])
      compare(self.group, r - 1, all[r], 0, all[1])
   end
end

--- Raises, on all ranks, unless parameters, running statistics and, if given, the optimizer's state
-- are equal on all ranks, bit for bit; the message names the first tensor that differs. All ranks
-- must call it. The constructor's option checkAlike = N calls it in every N-th forward in training.
-- @function nn.DistributedDataParallel:checkAlike
-- @as ofranks
-- @param state? table: the optimizer's state, its config included
-- @return nothing
-- @usage local net = nn.DistributedDataParallel(nn.Linear(2, 1), {checkAlike = 100})
--    net:checkAlike{learningRate = 0.1}
--    return select(2, pcall(net.checkAlike, net, 0.1)):match "'state'.*"
--    --> 'state' is of type number, wanted a table or nil
function check:checkAlike(state)
   if state ~= nil and type(state) ~= 'table' then
      fail("%s: argument 'state' is of type %s, wanted a table or nil", NAME, torch.type(state))
   end
   if self.ranks == 1 then return end
   self:_updateLayout()
   local list, all = valuesOf(self, state), hash.start
   for _, entry in ipairs(list) do all = hash.add(all, entry.value) end
   local numbers = exchange(self.group, {hash.number(all)})
   for r = 2, #numbers do
      if numbers[r][1] ~= numbers[1][1] then return find(self, list) end
   end
end

--- Calls checkAlike in the first forward in training and in every N-th after it, if the option is
-- set, and in the first one after parameters were written while gradients were pending: a script
-- may have updated them on each rank with only that rank's gradients. Forwards in noSync do not
-- count.
function check:_checkEvery()
   if self.inNoSync then return end
   if self.updatedWhilePending then
      self.updatedWhilePending = false
      return self:checkAlike()
   end
   if not self.checkEvery then return end
   self.untilCheck = (self.untilCheck or 1) - 1
   if self.untilCheck > 0 then return end
   self.untilCheck = self.checkEvery
   self:checkAlike()
end

return check
