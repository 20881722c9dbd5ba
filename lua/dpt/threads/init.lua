--- dpt.threads: the module `threads`: torch/threads' interface over dpt.threads.pool.
--
-- Invariant: callbacks run in workers, end callbacks in the state that created the pool, one at a
-- time, and only inside addjob, dojob, synchronize, specific and terminate. A job is counted from
-- when it is added until its answer is received, before its end callback runs. So neither an error
-- nor an abandoned coroutine in an end callback can make synchronize wait forever. Errors are kept
-- and raised by the next synchronize, addjob or terminate; the pool remains usable after that.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
require 'dpt.file' -- torch.serializeToStorage
local torch = require('dpt.class').torch
local objects = require 'dpt.threads.objects'
local Pool = require 'dpt.threads.pool'
local Queue = require 'dpt.threads.queue'
local tds = require 'dpt.threads.tds'
local Thread = require 'dpt.threads.thread'
local fail, type = dptffi.fail, dptffi.type

--- The package tds: containers that several threads can hold at once.
-- @field threads.tds
-- @as threads
-- @return a table
-- @usage require('threads').tds.Vec{1, 2, 3}[2] --> 2
local threads = {Mutex = objects.Mutex, Condition = objects.Condition,
   AtomicCounter = objects.AtomicCounter, Thread = Thread, tds = tds}

--- Converts values to bytes in a torch.CharStorage, and back.
-- @field threads.serialize
-- @as threads
-- @return a table with save and load
-- @usage type(require('threads').serialize) --> table
threads.serialize = {save = torch.serializeToStorage, load = torch.deserializeFromStorage}

local Threads = {}
Threads.__index = Threads

local shares = {['threads.serialize'] = false, ['threads.sharedserialize'] = true}
local serialization = 'threads.serialize'

local function isShared(fn, name)
   if shares[name] == nil then
      fail("%s: got %s, wanted 'threads.serialize' (tensors are copied) or"
         .. " 'threads.sharedserialize' (tensors are shared)", fn, tostring(name))
   end
   return shares[name]
end

--- Sets how pools created from now on pass tensors and storages: 'threads.serialize' copies them
-- (the default), 'threads.sharedserialize' shares them. Without an argument, returns the setting.
-- @function threads.serialization
-- @as threads
-- @also threads.Threads.serialization()
-- @param name? string: 'threads.serialize' or 'threads.sharedserialize'
-- @return the setting, if called without an argument
-- @usage local t = require 'threads'
--    t.serialization(t.serialization())
--    return t.serialization() --> threads.serialize
function threads.serialization(name)
   if name == nil then return serialization end
   isShared('threads.serialization', name)
   serialization = name
end

--- Creates a queue with space for n jobs, which passes tensors as threads.serialization describes;
-- or returns the queue with an id. Any thread adds jobs by queue:addjob(f, ...); any thread runs
-- the next job by queue:dojob(), which returns f(...)'s results.
-- @function threads.Queue
-- @as threads
-- @param n number: its capacity; or, without a second argument, the id of a queue
-- @param name? string: 'threads.serialize' or 'threads.sharedserialize'
-- @return a queue
-- @usage local q = require('threads').Queue(2, 'threads.serialize')
--    q:addjob(function(x) return x + 1 end, 4)
--    return q:dojob() --> 5
function threads.Queue(n, name)
   if name == nil then return Queue(n) end
   return Queue(n, isShared('threads.Queue', name))
end

local function checkFunctions(fn, first, ...)
   for i = 1, select('#', ...) do
      local f = select(i, ...)
      if type(f) ~= 'function' then
         fail('%s: argument %d is of type %s, wanted a function', fn, first + i - 1, torch.type(f))
      end
   end
end

--- Creates a pool of workers, threads with one Lua state each; threads(n, ...) is equivalent.
-- @function threads.Threads
-- @as threads
-- @param n number: how many workers
-- @param ...? function: each is called in every worker with the worker's number, after the previous
--    one has returned in all workers
-- @return the pool; a list of the last function's results in each worker
-- @usage local pool, got = require('threads').Threads(2, function(i) return 10 * i end)
--    pool:terminate()
--    return got --> {{10} {20}}
local function new(n, ...)
   if type(n) ~= 'number' or n < 1 or n % 1 ~= 0 then
      fail('threads.Threads: got %s, wanted the number of threads, from 1', tostring(n))
   end
   checkFunctions('threads.Threads', 2, ...)
   local pool, initial = Pool.new(n, {...}, shares[serialization])
   return setmetatable({N = n, endcallbacks = {n = 0}, errors = {}, pool_ = pool,
      specific_ = false}, Threads), initial
end

-- Scripts call threads.Threads(n, ...), threads(n, ...) and threads.Threads.serialization(...).
local call = {__call = function(_, ...) return new(...) end}
threads.Threads = setmetatable({serialization = threads.serialization}, call)
setmetatable(threads, call)

--- Returns true if the pool has not been terminated.
-- @function threads.Threads:isrunning
-- @as threads
-- @return a boolean
-- @usage local pool = require('threads').Threads(1)
--    local before = pool:isrunning()
--    pool:terminate()
--    return before, pool:isrunning() --> true, false
function Threads:isrunning() return self.pool_ ~= nil end

local function running(self)
   return self.pool_ or fail 'threads: the pool was terminated'
end

-- Returns 0 or, in specific mode, the worker's number.
local function target(fn, self, id)
   if not self.specific_ then return 0 end
   if type(id) ~= 'number' or id < 1 or id > self.N or id % 1 ~= 0 then
      fail('%s: got %s as thread, wanted 1 to %d (the pool is in specific mode)', fn, tostring(id),
         self.N)
   end
   return id
end

--- Returns true if addjob would not wait: fewer than N jobs wait for a worker (for worker id, in
-- specific mode).
-- @function threads.Threads:acceptsjob
-- @as threads
-- @param id? number: the worker, in specific mode
-- @return a boolean
-- @usage local pool = require('threads').Threads(1)
--    local yes = pool:acceptsjob()
--    pool:terminate()
--    return yes --> true
function Threads:acceptsjob(id)
   return running(self):waiting(target('acceptsjob', self, id)) < self.N
end

local function add(self, id, callback, endcallback, ...)
   checkFunctions('addjob', self.specific_ and 2 or 1, callback, endcallback or callback)
   if #self.errors > 0 then self:synchronize() end
   while self.pool_:waiting(id) >= self.N do self:dojob() end
   local _, tag = self.pool_:send(id, callback, ...)
   self.endcallbacks[tag] = endcallback or true
   self.endcallbacks.n = self.endcallbacks.n + 1
end

--- Adds a job: runs callback(...) in the first free worker (in worker id, in specific mode), and
-- endcallback with its results in this state. If N jobs wait already, runs end callbacks until the
-- queue has space.
-- @function threads.Threads:addjob
-- @as threads
-- @param id? number: the worker, in specific mode only
-- @param callback function: runs in a worker
-- @param endcallback? function: receives callback's results, in this state
-- @param ...? any: arguments of callback
-- @return nothing
-- @usage local pool, sum = require('threads').Threads(2), 0
--    for i = 1, 4 do
--       pool:addjob(function(x) return x * x end, function(y) sum = sum + y end, i)
--    end
--    pool:synchronize()
--    pool:terminate()
--    return sum --> 30
function Threads:addjob(...)
   running(self)
   if self.specific_ then
      add(self, target('addjob', self, (...)), select(2, ...))
   else
      add(self, 0, ...)
   end
end

--- Waits for any job to end, and runs its end callback.
-- @function threads.Threads:dojob
-- @as threads
-- @return nothing
-- @usage local pool, got = require('threads').Threads(1)
--    pool:addjob(function() return 3 end, function(v) got = v end)
--    pool:dojob()
--    pool:terminate()
--    return got --> 3
function Threads:dojob()
   local worker, tag, values, count = running(self):take()
   local endcallback = self.endcallbacks[tag]
   self.endcallbacks[tag] = nil
   self.endcallbacks.n = self.endcallbacks.n - 1
   if not values then
      table.insert(self.errors, ('[thread %d callback] %s'):format(worker, count))
   elseif endcallback ~= true then
      local ok, message = xpcall(endcallback, debug.traceback, unpack(values, 1, count))
      if not ok then
         table.insert(self.errors, ('[thread %d endcallback] %s'):format(worker, tostring(message)))
      end
   end
   core.collectIfDue() -- the results are other threads' memory; this thread allocated nothing
end

--- Returns true if there are jobs whose end callbacks have not run.
-- @function threads.Threads:hasjob
-- @as threads
-- @return a boolean
-- @usage local pool = require('threads').Threads(1)
--    pool:addjob(function() end)
--    local has = pool:hasjob()
--    pool:synchronize()
--    local after = pool:hasjob()
--    pool:terminate()
--    return has, after --> true, false
function Threads:hasjob()
   running(self)
   return self.endcallbacks.n > 0
end

--- Returns true if there is an error that synchronize will raise.
-- @function threads.Threads:haserror
-- @as threads
-- @return a boolean
-- @usage local pool = require('threads').Threads(1)
--    local before = pool:haserror()
--    pool:addjob(function() error 'no' end)
--    pool:dojob()
--    local has = pool:haserror()
--    pcall(pool.terminate, pool)
--    return before, has --> false, true
function Threads:haserror()
   running(self)
   return #self.errors > 0
end

--- Runs end callbacks until no jobs are left; then raises all their errors.
-- @function threads.Threads:synchronize
-- @as threads
-- @return nothing
-- @usage local pool = require('threads').Threads(1)
--    pool:addjob(function() error 'oh no' end)
--    local ok, why = pcall(pool.synchronize, pool)
--    pool:terminate()
--    return ok, why:find 'oh no' ~= nil --> false, true
function Threads:synchronize()
   if not self.pool_ then return end
   while self.endcallbacks.n > 0 do self:dojob() end
   if #self.errors > 0 then
      local message = '\n' .. table.concat(self.errors, '\n')
      self.errors = {}
      dptffi.raise(message)
   end
end

--- Sets specific mode: jobs are added with the number of their worker; false: the first free worker
-- runs a job. Waits for running jobs. Without an argument, returns the mode.
-- @function threads.Threads:specific
-- @as threads
-- @param flag? boolean: true: jobs are assigned to workers
-- @return the mode, if called without a flag
-- @usage local pool, got = require('threads').Threads(2)
--    pool:specific(true)
--    pool:addjob(2, function() return __threadid end, function(v) got = v end)
--    pool:terminate()
--    return got --> 2
function Threads:specific(flag)
   running(self)
   if flag == nil then return self.specific_ end
   if type(flag) ~= 'boolean' then
      fail('specific: got %s, wanted true or false', tostring(flag))
   end
   self:synchronize()
   self.specific_ = flag
end

--- Waits for all jobs, ends the workers, and raises remaining errors.
-- @function threads.Threads:terminate
-- @as threads
-- @return nothing
-- @usage local pool, n = require('threads').Threads(1), 0
--    pool:addjob(function() end, function() n = n + 1 end)
--    pool:terminate()
--    return n --> 1
function Threads:terminate()
   if not self.pool_ then return end
   local ok, why = pcall(self.synchronize, self)
   self.pool_:close()
   self.pool_ = nil
   if not ok then error(why, 0) end
end

function Threads:__tostring()
   return ('threads.Threads: %d threads'):format(self.N)
end

local function unlock(mutex, ok, ...)
   mutex:unlock()
   if ok then return ... end
   return error(..., 0)
end

--- Returns a function that calls f with a mutex locked, so that one thread at a time runs f. The
-- function can be sent to workers. Functions with the same mutex exclude each other.
-- @function threads.safe
-- @as threads
-- @param f function: called with the mutex locked
-- @param mutex? Mutex: the mutex (a new one)
-- @return a function
-- @usage require('threads').safe(function(x) return x + 1 end)(1) --> 2
function threads.safe(f, mutex)
   checkFunctions('threads.safe', 1, f)
   mutex = mutex or threads.Mutex()
   return function(...)
      mutex:lock()
      return unlock(mutex, pcall(f, ...))
   end
end

--- Tags shared by the reference entries of threads.
-- @pattern threads
-- @within threads
-- @follows Torch7's package threads
-- @raise if an argument has the wrong type, or the pool was terminated; errors of jobs are raised
--    by the next synchronize, addjob or terminate

--- Serializes a value to bytes.
-- @function threads.serialize.save
-- @as threads
-- @param value any: numbers, strings, tables, tensors, objects, functions
-- @return a CharStorage
-- @usage torch.type(require('threads').serialize.save{1}) --> torch.CharStorage

--- Deserializes a value from save's bytes. It loads functions: never use it for untrusted bytes.
-- @function threads.serialize.load
-- @as threads
-- @param storage CharStorage: result of save
-- @return the value
-- @usage local s = require('threads').serialize return s.load(s.save{1, 2}) --> {1 2}

return threads
