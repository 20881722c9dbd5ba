--- dpt.distributed.loader: threads that prepare batches and copy them to the device during
-- training.
--
--    local loader = distributed.loader(sampler, function(indices)
--       return images:index(1, indices), classes:index(1, indices)
--    end)
--    for input, target in loader:epoch() do ... end          -- tensors of the current device
--
-- Invariant: batches are returned in the sampler's order, whichever worker makes them. The sampler
-- is ahead of the batches returned, possibly in a later epoch, so the loader tracks the position
-- itself: loader.before, loader.count and loader.total describe the last batch, and loader:state()
-- is the state that the sampler would have without a loader. The option sampler of
-- nn.DistributedDataParallel accepts a loader. Prepared batches are discarded if the script moves
-- the sampler.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local Pool = require 'dpt.threads.pool'
local options = require 'dpt.distributed.options'
local loading = require 'dpt.distributed.loading' -- its functions run in the workers' states
local fail, type = dptffi.fail, dptffi.type

local Loader = {}
Loader.__index = Loader

local NAME = 'distributed.loader'

local known = {
   threads = {options.isCount, 'how many workers there are, 1 at least'},
   ahead = {options.isCount, 'how many batches are in flight, 1 at least'},
   device = {function(value) return value == 0 or options.isCount(value) end,
      "a device's number, or 0 to leave batches in host memory"},
   init = {function(value) return type(value) == 'function' end,
      'a function, which each worker calls with its number'},
}

-- The stream on which all loaders of this process copy: numbered after the existing ones, and not
-- ordered with the default stream, on which training steps are queued.
local own

--- Makes a loader.
-- @param sampler of distributed.sampler
-- @param make function(indices), called in a worker with a LongTensor of rows (empty if this rank
--    has none); returns tensors, or tables of them
-- @param given threads (2), ahead (2 for each thread), device (the current one), init
function Loader.new(sampler, make, given)
   if type(sampler) ~= 'table' or not sampler.next or not sampler.state then
      fail('%s: wants what distributed.sampler returned as argument 1, got %s', NAME,
         torch.type(sampler))
   end
   if type(make) ~= 'function' then
      fail('%s: wants a function as argument 2, got %s', NAME, torch.type(make))
   end
   given = options.check(NAME, given, 3, known)
   local threads = given.threads or 2
   local device = given.device or cutorch.getDeviceCount() > 0 and cutorch.getDevice() or 0
   if device > 0 then
      if not own then
         cutorch.reserveStreams(cutorch.getNumStreams() + 1, true)
         own = cutorch.getNumStreams()
      end
      cutorch.synchronizeAll() -- device tensors that `make` uses are complete
   end
   local self = setmetatable({sampler = sampler, ahead = given.ahead or 2 * threads, made = 0,
      queue = {}, current = sampler:state(), moves = sampler.moves, pool = Pool.new(threads)},
      Loader)
   local info = debug.getinfo(make, 'S')
   self.origin = ('%s:%d'):format(info.short_src, info.linedefined)
   self.pool:all(function(i)
      return self.pool:send(i, loading.begin, i, make, device > 0 and device or nil,
         device > 0 and own or nil, given.init)
   end, 'init')
   return self
end

-- Waits for the batches in progress, and discards them.
local function drop(self)
   for _, entry in ipairs(self.queue) do
      if entry.job then self.pool:receive(entry.job) end
   end
   self.queue = {}
end

-- Discards the prepared batches if the script has moved the sampler since the last call.
local function follow(self)
   if self.moves == self.sampler.moves then return end
   drop(self)
   self.moves, self.current = self.sampler.moves, self.sampler:state()
end

-- Queues batches for the workers to make.
local function fill(self)
   local sampler, queue = self.sampler, self.queue
   while #queue < self.ahead do
      local epoch, place = sampler.current, sampler.position
      local indices, before, total = sampler:next()
      self.moves = sampler.moves
      local entry = {state = sampler:state(), isEnd = not indices, epoch = epoch}
      if indices then
         self.made = self.made + 1
         entry.worker = self.made % self.pool.n + 1
         entry.before, entry.count, entry.total = before, indices:nElement(), total
         entry.number = math.floor(place / sampler.batch) + 1
         local seed = (sampler:_key(epoch) % 2 ^ 39 * 7919 + place + before) % 2 ^ 52
         entry.job = self.pool:send(entry.worker, loading.batch, seed, indices:clone())
      end
      queue[#queue + 1] = entry
   end
end

--- Returns the next batch of the epoch: the results of `make`, on the device. Returns nothing at
-- the end of the epoch; the call after that begins the next epoch. Raises an error that a worker
-- raised.
-- @function distributed.loader:next
-- @as distributed
-- @return the results of `make`, on the device
-- @usage local d = require('dpt').distributed
--    local l = d.loader(d.sampler(2, {batch = 1, shuffle = false}), function(rows)
--       return rows
--    end, {threads = 1, device = 0})
--    l:next()
--    local x = l:next()
--    l:close()
--    return x --> [2]
function Loader:next()
   if not self.pool then fail('%s: it was closed', NAME) end
   follow(self)
   fill(self)
   local entry = table.remove(self.queue, 1)
   self.current = entry.state
   if entry.isEnd then
      fill(self)
      return nil
   end
   self.before, self.count, self.total = entry.before, entry.count, entry.total
   local results, message = self.pool:receive(entry.job)
   if not results then
      fail('%s: worker %d, batch %d of epoch %d: %s', NAME, entry.worker, entry.number, entry.epoch,
         message)
   end
   fill(self)
   if results[1][1] == nil then
      fail('%s: batch %d of epoch %d: the function of %s has returned %s, wanted a tensor or a'
         .. ' table (is a return missing?)', NAME, entry.number, entry.epoch, self.origin,
         results[1].n == 0 and 'nothing' or 'nil first')
   end
   return unpack(results[1], 1, results[1].n)
end

--- Iterates over the rest of the epoch: for input, target in loader:epoch().
-- @function distributed.loader:epoch
-- @as distributed
-- @return an iterator and its state, for a for loop
-- @usage local d, n = require('dpt').distributed, 0
--    local l = d.loader(d.sampler(3, {batch = 1}), function(rows)
--       return rows
--    end, {threads = 1, device = 0})
--    for x in l:epoch() do n = n + 1 end
--    l:close()
--    return n --> 3
function Loader:epoch() return self.next, self end

--- Returns the position as a table that can be saved; load() of a sampler or loader accepts it.
-- @function distributed.loader:state
-- @as distributed
-- @return a table
-- @usage local d = require('dpt').distributed
--    local l = d.loader(d.sampler(3, {batch = 1}), function(rows)
--       return rows
--    end, {threads = 1, device = 0})
--    local p = l:state().position
--    l:close()
--    return p --> 0
function Loader:state()
   follow(self)
   return self.current
end

--- Resumes from a saved state.
-- @function distributed.loader:load
-- @as distributed
-- @param state table: result of state()
-- @return the loader
-- @usage local d = require('dpt').distributed
--    local l = d.loader(d.sampler(2, {batch = 1, shuffle = false}), function(rows)
--       return rows
--    end, {threads = 1, device = 0})
--    local s = l:state()
--    l:next()
--    local x = l:load(s):next()
--    l:close()
--    return x --> [1]
function Loader:load(state)
   self.sampler:load(state)
   follow(self)
   return self
end

--- Stops the workers after the batches that they are making, and moves the sampler back to the
-- position after the last batch returned. Collecting a loader also stops its workers.
-- @function distributed.loader:close
-- @as distributed
-- @return nothing
-- @usage local d = require('dpt').distributed
--    local l = d.loader(d.sampler(1), function(rows) return rows end, {threads = 1, device = 0})
--    l:close()
--    return select(2, pcall(l.next, l)):match 'it was.*' --> it was closed
function Loader:close()
   if not self.pool then return end
   drop(self)
   if self.moves == self.sampler.moves then self.sampler:load(self.current) end
   self.pool:close()
   self.pool = nil
end

return Loader
