--- dpt.threads.pool: workers, threads with one Lua state each, that run functions.
--
-- Invariant: every job is answered exactly once, even if it fails or its worker dies. An answer
-- belongs to its job: a caller that waits for a job never receives another job's answer. A job's
-- number (its tag) is unique among running jobs and is reused after the answer, so that the list of
-- jobs is only as long as the largest number of jobs running at once. A pool belongs to the state
-- that created it. The workers of a collected pool end after their current job; nothing waits for
-- them.
--
--    local pool = Pool.new(n, {init1, init2})   -- in worker i: init1(i), then init2(i)
--    local job = pool:send(i, f, ...)           -- in worker i: f(...), f with its upvalues
--    local results, count = pool:receive(job)   -- its answer
--    local nothing, message = pool:receive(job) -- if it failed: nil, message and traceback
--    pool:close()                               -- waits until the workers have ended
--
-- Send to all workers first and then receive from each, so that they run in parallel. Functions of
-- Lua and dpt are sent by name. Worker 0 is the first free one (`take` returns its answers).
-- Tensors and storages are shared, not copied, unless the pool was created with share = false;
-- everything else is copied.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local chunks = require 'dpt.threads.chunks'
local write = require 'dpt.threads.writer'
local read = require 'dpt.threads.reader'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail

local Pool = {}
Pool.__index = Pool

-- Program of a worker: it loads dpt, in a state that finds modules as this one does, and has the
-- global `cudnn` if this state has it.
local boot = [[
   local path, cpath, chunks, dpt, worker = %q, %q, %d, %q, %q
   local compile, share, cudnn, n = %s, %s, %s, ...
   package.path, package.cpath, __threadid = path, cpath, n
   if not compile then require('jit').off() end
   require('dpt.threads.chunks').use(chunks)
   require(dpt)
   if not cudnn then
      local compat = require(dpt .. '.compat')
      compat.setRequire(require)
      compat.hideCudnn()
   end
   require(worker)(share)
]]
-- This name counts as one of dpt's own sources, which are not blamed for errors.
local source = debug.getinfo(1, 'S').source:gsub('pool%.lua$', 'boot')

local function label(i)
   if i == 1 then return 'the function' end
   return 'argument ' .. i - 1
end

local function ended(worker, why)
   return nil, ('worker %d has ended: %s'):format(worker, why)
end

-- Returns an answer's values; nil and the message if the job failed.
local function open(mail)
   if mail.ended ~= 0 then return ended(mail.worker, ffi.string(mail.bytes, mail.size)) end
   local ok, values, count = pcall(read, mail)
   if not ok then return nil, values end
   if values[1] then return values, count end
   return nil, values[2]
end

local function results(values, count)
   if not values then return nil, count end
   for i = 1, count do values[i] = values[i + 1] end
   return values, count - 1
end

--- Creates a pool.
-- @param n number of workers
-- @param inits list of functions; each is called in every worker with the worker's number, after
-- the previous one has returned
-- @param share false: tensors are copied
-- @return the pool, and for each worker the list of results of its last init function
function Pool.new(n, inits, share)
   if not pcall(require, 'string.buffer') then
      fail('threads: this LuaJIT (%s) lacks string.buffer; install a version of 2021 or later',
         jit.version)
   end
   local slot = ffi.new 'dpt_workers *[1]'
   share = share ~= false
   local program = boot:format(package.path, package.cpath, chunks.id(), 'dpt',
      'dpt.threads.worker', tostring(jit.status()), tostring(share),
      tostring(rawget(_G, 'cudnn') ~= nil))
   program = ('return assert(loadstring(%q, %q))(...)'):format(program, source)
   lib.workers_new(slot, n, program, #program)
   local self = setmetatable({n = n, share = share, workers_ = ffi.gc(slot[0], C.dpt_workers_free),
      jobs = {}, free = nil}, Pool) -- jobs: by tag; at an unused tag, the next free tag
   local initial = self:all(function(i) return self:expect(i, i) end, 'start')
   for _, init in ipairs(inits or {}) do
      initial = self:all(function(i) return self:send(i, init, i) end, 'init')
   end
   return self, initial
end

-- Records a running job of worker i, whose answer will have that tag.
function Pool:expect(i, tag)
   local job = {worker = i, mail = false}
   self.free = self.jobs[tag] or nil
   self.jobs[tag] = job
   return job
end

--- Calls send(i), which returns a job, for every worker and waits for all jobs; if some fail,
-- closes the pool and raises all their errors.
-- @return the list of their lists of results
function Pool:all(send, what)
   local errors, all, jobs = {}, {}, {}
   for i = 1, self.n do
      local ok, job = pcall(send, i)
      if not ok then
         self:close()
         error(job, 0)
      end
      jobs[i] = job
   end
   for i = 1, self.n do
      local values, message = self:receive(jobs[i])
      all[i] = values
      if not values then
         errors[#errors + 1] = ('[thread %d %s] %s'):format(i, what, message)
      end
   end
   if #errors > 0 then
      self:close()
      fail('threads: %s', table.concat(errors, '\n'))
   end
   return all
end

--- Queues a job for worker i (0: the first free one).
-- @return the job, and the number that `take` returns with its answer
function Pool:send(i, ...)
   local bytes, size, references, count, held = write(self.share, label, ...)
   local tag = self.free or #self.jobs + 1
   lib.workers_send(self.workers_, i, tag, bytes, size, references, count)
   core.keepAlive(held)
   return self:expect(i, tag), tag
end

local slot = ffi.new 'dpt_mail *[1]'

-- Waits for the next answer of any worker; returns it with its job, which is removed from the list.
local function nextAnswer(self)
   lib.workers_receive(self.workers_, slot)
   local mail = ffi.gc(slot[0], C.dpt_mail_free)
   local tag = tonumber(mail.tag)
   local job = self.jobs[tag]
   self.jobs[tag] = self.free or false
   self.free = tag
   return mail, job, tag
end

local function finish(mail)
   local values, count = results(open(mail))
   C.dpt_mail_free(ffi.gc(mail, nil))
   return values, count
end

--- Waits for the next answer of any worker.
-- @return the worker, the job's number, the results and their count, or nil and a message
function Pool:take()
   local mail, _, tag = nextAnswer(self)
   return mail.worker, tag, finish(mail)
end

--- Waits for a job's answer; returns the list of results and their count, or nil and a message.
function Pool:receive(job)
   while not job.mail do
      if not self.workers_ then return ended(job.worker, 'the pool was closed') end
      local mail, answered = nextAnswer(self)
      answered.mail = mail
   end
   local mail = job.mail
   job.mail = false
   return finish(mail)
end

--- Returns the number of unstarted jobs that only worker i may run (0: that any worker may run).
function Pool:waiting(i) return tonumber(C.dpt_workers_waiting(self.workers_, i)) end

--- Waits until every worker has ended; the pool cannot be used afterwards.
function Pool:close()
   if not self.workers_ then return end
   local workers = self.workers_
   self.workers_ = nil
   C.dpt_workers_stop(workers)
end

return Pool
