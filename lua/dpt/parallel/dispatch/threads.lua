--- dpt.parallel.dispatch.threads: runs replicas at once, each but the first in a thread with its
-- own Lua state.
--
-- Invariant: as in dpt.parallel.dispatch.basic, with the same results and errors. Replica 1 stays
-- in the caller's state and is run by the caller. A job is sent to all workers, then replica 1
-- runs, then all are awaited, whatever happens; what cannot be sent raises before anything runs.
-- Workers start at the first use and end when the dispatcher is closed or collected, and after one
-- of them has died; the next use then starts others. Settings
-- (dpt.parallel.dispatch.state_settings) travel with a job when they have changed.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
require 'dpt.parallel.dispatch.basic'
local Pool = require 'dpt.threads.pool'
local errors = require 'dpt.parallel.dispatch.errors'
local settings = require 'dpt.parallel.dispatch.state_settings'
local replica = require 'dpt.parallel.dispatch.replica'
local worker = require 'dpt.parallel.dispatch.worker' -- its functions run in the workers' states

local dispatchers = {}
local Threads, parent = torch.class('nn.DataParallelTable.Threads', 'nn.DataParallelTable.Basic',
   dispatchers)

--- Runs replicas at once, each but the first in a thread with its own Lua state;
-- nn.DataParallelTable's method threads chooses it.
-- @param owner as nn.DataParallelTable.Basic's
-- @param initFunc gets a replica's number, in its state, when the workers start
-- @param syncCopies true: replicas are made one after the other
-- @return a dispatcher
function Threads:__init(owner, initFunc, syncCopies)
   parent.__init(self, owner)
   self.initFunc, self.syncCopies = initFunc, syncCopies or false
   self.sentSettings = {} -- by worker: those that it has
end

function Threads:newFor(owner)
   return dispatchers.Threads(owner, self.initFunc, self.syncCopies)
end

-- Starts `count` workers if others are there.
local function start(self, count)
   if self.pool and self.pool.n == count or count == 0 and not self.pool then return end
   self:close()
   if count == 0 then return end
   local init = self.initFunc
   if init then init(1) end
   self.pool, self.sentSettings = Pool.new(count, {init and function(i) init(i + 1) end}), {}
end

-- Sends a job, f(settings, ...), to replica i's worker, with the settings if they have changed.
-- @return the job
local function send(self, snapshot, i, f, ...)
   local changed = self.sentSettings[i] ~= snapshot and snapshot or nil
   local job = self.pool:send(i - 1, f, changed, ...)
   self.sentSettings[i] = snapshot
   return job
end

-- Awaits a job of replica i: true and the result, or false and the error, which names it.
local function receive(self, pool, i, job)
   local values, message = pool:receive(job)
   if values then return true, values[1] end
   self.sentSettings[i] = nil -- it may have failed to take them
   return false, self:inReplica(i, message), message:find('^worker %d+ has ended')
end

-- Calls job(self, i, ...) for replicas 2 to count, which sends something, then here(...) for
-- replica 1, and awaits all. With `single`, each job is awaited before the next is sent.
local function runAll(self, count, single, job, here, ...)
   local before, results, wrong, sent, dead = cutorch.getDevice(), {}, {}, {}, false
   local pool = self.pool -- what here() does may close it
   local function await(i)
      local ok, result, ended = receive(self, pool, i, sent[i])
      if ok then results[i] = result else wrong[#wrong + 1] = {i, result} end
      dead = dead or ended
   end
   for i = 2, count do
      local ok, message = pcall(job, self, i, ...)
      sent[i] = ok and message
      if not ok and i == 2 then error(message, 0) end
      if not ok then wrong[#wrong + 1] = {i, self:inReplica(i, message)} end
      if ok and single then await(i) end
   end
   if count > 0 then
      local ok, result = self:attempt(1, here, ...)
      if ok then results[1] = result else wrong[#wrong + 1] = {1, result} end
   end
   for i = 2, count do
      if sent[i] and not single then await(i) end
   end
   cutorch.setDevice(before)
   if dead and self.pool == pool then self:close() end
   if #wrong > 0 then
      table.sort(wrong, function(a, b) return a[1] < b[1] end)
      for k, entry in ipairs(wrong) do wrong[k] = entry[2] end
      errors.raise(wrong)
   end
   return results
end

local function sendMake(self, i, first)
   return send(self, self.snapshot, i, worker.make, i, self.dpt.gpuAssignments[i], first)
end

local function itself(first) return first end

local function sendRun(self, i, _, f, argumentsOf, ...)
   return send(self, self.snapshot, i, worker.run, f, argumentsOf(i, ...))
end

local function runHere(first, f, argumentsOf, ...)
   return f(first, 1, argumentsOf(1, ...))
end

--- The list of the replicas that live here, which is the first one; makes all if that has not
-- been done.
function Threads:setup()
   if self.modules then return self.modules end
   local count = #self.dpt.gpuAssignments
   start(self, count - 1)
   self.snapshot = settings.get(self.snapshot)
   self.modules = runAll(self, count, self.syncCopies, sendMake, itself, self.dpt.modules[1])
   return self.modules
end

--- Replica i; of one in a worker a copy that has the same tensors. nil if there is none yet.
function Threads:get(i)
   if not self.modules or i == 1 or not self.dpt.gpuAssignments[i] then
      return self.modules and self.modules[i]
   end
   return self:perform(i, replica.apply, function()
      return function(module, k) return k == i and module or nil end
   end)[i]
end

function Threads:perform(count, f, argumentsOf, ...)
   local first = self:setup()[1]
   self.snapshot = settings.get(self.snapshot)
   return runAll(self, count, false, sendRun, runHere, first, f, argumentsOf, ...)
end

function Threads:collect()
   self:run(replica.collect)
end

--- Ends the workers; the next use starts others.
function Threads:close()
   local pool = self.pool
   self.modules, self.pool = nil, nil
   if pool then pool:close() end
end

return dispatchers.Threads
