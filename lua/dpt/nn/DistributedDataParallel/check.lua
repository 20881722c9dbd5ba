--- dpt.nn.DistributedDataParallel.check: finds ranks that do not have the same values any more.
--
-- Invariant: all ranks find the same, and raise the same message, which names the first tensor that
-- differs. If nothing differs each rank has sent 8 bytes. What differs by design is left out: the
-- parts of a state that ranks share out, running statistics that each rank keeps (buffers = 'own'),
-- and those that a forward has moved, until the backward after it.
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

-- The keys of a table, numbers first.
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

-- Returns true if a value of an optimizer's state is this rank's alone: optim's
-- ZeroRedundancyOptimizer has cut tensors of n elements into parts, and a rank without a part
-- counts no steps.
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

-- Returns the values that have to be the same on all ranks, in an order that is the same.
local function valuesOf(self, state)
   local list, module = {}, self.modules[1]
   local names = digest.names(module)
   for i, t in ipairs(module:parameters() or {}) do
      list[i] = {name = names[t] or 'parameter ' .. i, value = t}
   end
   local differ = self.moved or self.buffers == 'own'
   for i, t in ipairs(differ and {} or buffers.statistics(module)) do
      list[#list + 1] = {name = names[t] or 'buffer ' .. i, value = t}
   end
   if state then addState(list, 'state', state, state.zeroPart, self.ranks, {}) end
   return list
end

-- Raises if an entry of a rank differs from that of the same name of another rank, or is not there.
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

-- Finds the first value that differs.
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

--- Raises, on all ranks, unless all have the same parameters, running statistics and, if it is
-- given, state of the optimizer, bit for bit; the message names the first tensor that differs. The
-- option checkAlike = N of the constructor does so in each N-th forward in training. All ranks call
-- it.
-- @function nn.DistributedDataParallel:checkAlike
-- @as ofranks
-- @param state? table: what the optimizer keeps, its config included
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
   self:_layOut()
   local list, all = valuesOf(self, state), hash.start
   for _, entry in ipairs(list) do all = hash.add(all, entry.value) end
   local numbers = exchange(self.group, {hash.number(all)})
   for r = 2, #numbers do
      if numbers[r][1] ~= numbers[1][1] then return find(self, list) end
   end
end

--- Calls checkAlike in the first forward in training and in each N-th after it, if the option says
-- so, and in the first one after parameters were written to while gradients waited: by hand each
-- rank may have used its own part. Those in noSync do not count.
function check:_checkEvery()
   if self.deferred then return end
   if self.suspect then
      self.suspect = false
      return self:checkAlike()
   end
   if not self.checkEvery then return end
   self.untilCheck = (self.untilCheck or 1) - 1
   if self.untilCheck > 0 then return end
   self.untilCheck = self.checkEvery
   self:checkAlike()
end

return check
