--- dpt.parallel.dispatch.threads: runs replicas in parallel, each but the first in a thread with a
-- separate Lua state.
--
-- Invariant: as in dpt.parallel.dispatch.basic, with the same results and errors. Replica 1 stays
-- in the caller's state and is run by the caller. A call sends a job to all workers, then runs
-- replica 1, then waits for all jobs, even after an error. Values that cannot be sent raise before
-- anything runs. Workers start at the first use. They end when the dispatcher is closed or
-- collected, or after one of them has died; the next use starts new ones. Settings
-- (dpt.parallel.dispatch.state_settings) are sent with a job if they have changed.
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

--- Runs replicas in parallel, each but the first in a thread with a separate Lua state;
-- nn.DataParallelTable's method threads selects it.
-- @param owner as for nn.DataParallelTable.Basic
-- @param initFunc called with a replica's number, in its state, when the workers start
-- @param syncCopies true: replicas are created one after the other
-- @return a dispatcher
function Threads:__init(owner, initFunc, syncCopies)
   parent.__init(self, owner)
   self.initFunc, self.syncCopies = initFunc, syncCopies or false
   self.sentSettings = {} -- by replica: the last snapshot sent to it
end

function Threads:newFor(owner)
   return dispatchers.Threads(owner, self.initFunc, self.syncCopies)
end

-- Starts `count` workers, unless that many are running.
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

-- Waits for a job of replica i. Returns true and the result; or false, an error that names the
-- replica, and a true value if the worker has ended.
local function receive(self, pool, i, job)
   local values, message = pool:receive(job)
   if values then return true, values[1] end
   self.sentSettings[i] = nil -- the worker may not have set them
   return false, self:inReplica(i, message), message:find('^worker %d+ has ended')
end

-- Calls job(self, i, ...), which sends a job, for replicas 2 to count, then here(...) for replica
-- 1, and waits for all jobs. With `single`, waits for each job before sending the next.
local function runAll(self, count, single, job, here, ...)
   local before, results, wrong, sent, dead = cutorch.getDevice(), {}, {}, {}, false
   local pool = self.pool -- here() may close it
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

--- Returns the list of the replicas in this Lua state, which holds only replica 1; creates all
-- replicas at the first call.
function Threads:setup()
   if self.modules then return self.modules end
   local count = #self.dpt.gpuAssignments
   start(self, count - 1)
   self.snapshot = settings.get(self.snapshot)
   self.modules = runAll(self, count, self.syncCopies, sendMake, itself, self.dpt.modules[1])
   return self.modules
end

--- Returns replica i, or nil if there is none yet. A replica in a worker is returned as a copy that
-- shares its tensors.
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

--- Ends the workers; the next use starts new ones.
function Threads:close()
   local pool = self.pool
   self.modules, self.pool = nil, nil
   if pool then pool:close() end
end

return dispatchers.Threads
