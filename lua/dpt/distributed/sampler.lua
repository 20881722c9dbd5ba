--- dpt.distributed.sampler: chooses the rows of a data set for each rank.
--
--    local sampler = distributed.sampler(60000, {batch = 256, seed = 1})
--    for indices in sampler:epoch() do ... end                    -- this rank's rows of each batch
--
-- Invariant: a batch is shared by all ranks of the group, in parts as equal as possible, in rank
-- order. So the batches of an epoch are the same for every number of ranks, all ranks have the same
-- number of batches (some perhaps without rows), and each index occurs once, unless dropLast omits
-- the last batch for having fewer rows. The order depends on seed and epoch only. The result of
-- state() is all that is needed to resume, even with another number of ranks. load takes from it
-- the position, and the options that the script did not set.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local groups = require 'dpt.distributed.group'
local options = require 'dpt.distributed.options'
local report = require 'dpt.report'
local fail, type = dptffi.fail, dptffi.type

local Sampler = {}
Sampler.__index = Sampler

local NAME = 'distributed.sampler'

local known = {
   batch = {options.isCount, 'a number of rows, 1 at least'},
   dropLast = {options.isBoolean, 'true or false'},
   group = groups.option,
   seed = {options.isWhole, 'a whole number'},
   shuffle = {options.isBoolean, 'true or false'},
}

-- Fields that load checks, besides n.
local states = {batch = known.batch, seed = known.seed, shuffle = known.shuffle,
   dropLast = known.dropLast,
   current = {options.isCount, 'the number of an epoch'},
   position = {function(n) return options.isWhole(n) and n >= 0 end, 'a number of rows'}}

--- Makes a sampler.
-- @param n rows of the data set
-- @param given batch = rows of a batch, over all ranks (n), shuffle (true), seed (0), dropLast
--    (false), group (all ranks)
-- @param rank, size this rank and the number of ranks, if there is no group
function Sampler.new(n, given, rank, size)
   if not options.isWhole(n) or n < 0 then
      fail('%s: wants the number of rows as argument 1, got %s', NAME, tostring(n))
   end
   local self = setmetatable({n = n, batch = math.max(n, 1), seed = 0, shuffle = true,
      dropLast = false, rank = rank, size = size, current = 1, position = 0,
      moves = 0}, Sampler) -- moves: number of calls of next and load
   self.givenOptions = {} -- names of options that the script set
   for name, value in pairs(options.check(NAME, given, 2, known)) do
      self[name], self.givenOptions[name] = value, true
   end
   local group = self.group
   if group then self.rank, self.size, self.group = group:rank(), group:size(), nil end
   return self
end

--- Returns a number below 2^52 determined by seed and epoch: exact for every seed.
function Sampler:_key(epoch) return (self.seed % 2 ^ 32 * 1000003 + epoch) % 2 ^ 52 end

local generator = torch.Generator()

-- Returns the order of the current epoch.
local function orderOf(self)
   if self.ordered ~= self.current then
      self.ordered = self.current
      if self.shuffle and self.n > 0 then
         torch.manualSeed(generator, self:_key(self.current))
         self.order = torch.randperm(generator, self.n):long()
      else
         self.order = self.n > 0 and torch.range(1, self.n):long() or torch.LongTensor()
      end
   end
   return self.order
end

--- Returns the number of batches of an epoch, the same on every rank.
-- @function distributed.sampler:steps
-- @as distributed
-- @follows PyTorch's len(loader)
-- @return a number
-- @usage local sampler = require('dpt').distributed.sampler
--    return sampler(5, {batch = 2}):steps(), sampler(5, {batch = 2, dropLast = true}):steps()
--    --> 3, 2
function Sampler:steps()
   return (self.dropLast and math.floor or math.ceil)(self.n / self.batch)
end

--- Returns the next batch of the epoch. Returns nothing at its end; the call after that begins the
-- next epoch.
-- @function distributed.sampler:next
-- @as distributed
-- @return a LongTensor of this rank's rows; the number of rows of the batch on lower ranks; the
--    number of rows of the batch
-- @usage local s = require('dpt').distributed.sampler(3, {shuffle = false, batch = 2})
--    s:next()
--    return s:next() --> [3], 0, 1
function Sampler:next()
   if not self.givenOptions.batch and self.batch >= self.n and self.n > 1 and self.rank == 0 then
      report(('%s: option batch is missing, so each batch has all %d rows: set batch = N'):format(
         NAME, self.n), NAME)
   end
   local order = orderOf(self)
   local total = math.min(self.batch, self.n - self.position)
   self.moves = self.moves + 1
   if total < (self.dropLast and self.batch or 1) then
      self.current, self.position = self.current + 1, 0
      return nil
   end
   local each, more = math.floor(total / self.size), total % self.size
   local count = each + (self.rank < more and 1 or 0)
   self.before, self.count = self.rank * each + math.min(self.rank, more), count
   self.total = total
   local first = self.position + self.before
   self.position = self.position + total
   return count > 0 and order:narrow(1, first + 1, count) or torch.LongTensor(), self.before, total
end

--- Iterates over the rest of the epoch.
-- @function distributed.sampler:epoch
-- @as distributed
-- @return an iterator and its state, for a for loop
-- @usage local n = 0
--    for rows in require('dpt').distributed.sampler(5, {batch = 2}):epoch() do
--       n = n + rows:nElement()
--    end
--    return n --> 5
function Sampler:epoch() return self.next, self end

--- Returns the position as a table that can be saved.
-- @function distributed.sampler:state
-- @as distributed
-- @return a table
-- @usage require('dpt').distributed.sampler(5, {batch = 2}):state().position --> 0
function Sampler:state()
   return {n = self.n, batch = self.batch, seed = self.seed, shuffle = self.shuffle,
      dropLast = self.dropLast, current = self.current, position = self.position}
end

--- Resumes from a saved state, on the same or another number of ranks. The epoch and the position
-- in it are taken from the state. Options that the script passed to distributed.sampler (batch,
-- seed, shuffle, dropLast) stay; the others are taken from the state. With another seed or shuffle
-- in the middle of an epoch, rows of that epoch may occur twice or not at all.
-- @function distributed.sampler:load
-- @as distributed
-- @param state table: result of state()
-- @return the sampler
-- @usage local s = require('dpt').distributed.sampler(5, {batch = 2, shuffle = false})
--    s:next()
--    local other = require('dpt').distributed.sampler(5, {batch = 3})
--    return other:load(s:state()):next() --> [3 4 5], 0, 3
function Sampler:load(state)
   if type(state) ~= 'table' or type(state.position) ~= 'number' then
      fail('%s: load wants what state() returned, got %s', NAME, torch.type(state))
   end
   if state.n ~= self.n then
      fail('%s: load got the state of a sampler of %s rows, this one has %d', NAME,
         tostring(state.n), self.n)
   end
   for name, wanted in pairs(states) do
      local value = state[name]
      if value ~= nil and not wanted[1](value) then
         fail('%s: load got %s = %s, wanted %s', NAME, name, tostring(value), wanted[2])
      end
   end
   if state.position > self.n then
      fail('%s: load got position = %s, wanted 0 to %d, the number of rows', NAME,
         tostring(state.position), self.n)
   end
   for name in pairs(states) do
      if state[name] ~= nil and not self.givenOptions[name] then self[name] = state[name] end
   end
   self.ordered, self.moves = nil, self.moves + 1
   return self
end

return Sampler
