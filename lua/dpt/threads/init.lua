--- dpt.threads: what `require 'threads'` returns: torch/threads' interface over dpt.threads.pool.
--
-- Invariant: callbacks run in workers, end callbacks in the state that made the pool, one at a
-- time, and only inside addjob, dojob, synchronize, specific and terminate. Every job that was
-- added is counted until its answer has been taken, before its end callback runs: neither an error
-- nor a coroutine that is left behind in one can make synchronize wait for ever. Errors are kept
-- and raised by the next synchronize, addjob or terminate; the pool can be used after that.
local dptffi = require 'dpt.ffi'
require 'dpt.file' -- torch.serializeToStorage
local torch = require('dpt.class').torch
local objects = require 'dpt.threads.objects'
local Pool = require 'dpt.threads.pool'
local Queue = require 'dpt.threads.queue'
local tds = require 'dpt.threads.tds'
local Thread = require 'dpt.threads.thread'
local fail, type = dptffi.fail, dptffi.type

local threads = {Mutex = objects.Mutex, Condition = objects.Condition,
   AtomicCounter = objects.AtomicCounter, Thread = Thread, tds = tds}

--- `require 'threads.serialize'`: any value as the bytes in a torch.CharStorage, and back.
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

--- How pools that are made from now on pass tensors and storages: 'threads.serialize': copied (the
-- default), 'threads.sharedserialize': shared. Without an argument: which of the two it is.
function threads.serialization(name)
   if name == nil then return serialization end
   isShared('threads.serialization', name)
   serialization = name
end

--- threads.Queue(n, serialization): a queue of n jobs, which passes tensors as serialization()
-- says; (id): the queue with that id. Any thread puts jobs in by queue:addjob(f, ...); any thread
-- runs the next one by queue:dojob(), which returns what f(...) returns.
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

--- threads.Threads(n, init...): n workers. Each runs the init functions in turn with its number
-- (also the global __threadid) before anything else.
-- @return the pool, and a list with what the last init function returned in each worker
local function new(n, ...)
   if type(n) ~= 'number' or n < 1 or n % 1 ~= 0 then
      fail('threads.Threads: got %s, wanted the number of threads, from 1', tostring(n))
   end
   checkFunctions('threads.Threads', 2, ...)
   local pool, initial = Pool.new(n, {...}, shares[serialization])
   return setmetatable({N = n, endcallbacks = {n = 0}, errors = {}, pool_ = pool,
      specific_ = false}, Threads), initial
end

-- Scripts say threads.Threads(n, ...), threads(n, ...) and threads.Threads.serialization(...).
local call = {__call = function(_, ...) return new(...) end}
threads.Threads = setmetatable({serialization = threads.serialization}, call)
setmetatable(threads, call)

function Threads:isrunning() return self.pool_ ~= nil end

local function running(self)
   return self.pool_ or fail 'threads: the pool was terminated'
end

-- 0 or, in specific mode, the worker's number.
local function target(fn, self, id)
   if not self.specific_ then return 0 end
   if type(id) ~= 'number' or id < 1 or id > self.N or id % 1 ~= 0 then
      fail('%s: got %s as thread, wanted 1 to %d (the pool is in specific mode)', fn, tostring(id),
         self.N)
   end
   return id
end

--- Whether addjob would not have to wait: fewer than N jobs wait for a worker (for worker id, in
-- specific mode).
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

--- addjob([id,] callback [, endcallback [, ...]]): callback(...) runs in the first free worker (in
-- worker id, in specific mode); what it returns goes to endcallback, in this state. If N jobs
-- wait already, end callbacks are run until the queue has space.
function Threads:addjob(...)
   running(self)
   if self.specific_ then
      add(self, target('addjob', self, (...)), select(2, ...))
   else
      add(self, 0, ...)
   end
end

--- Waits for the next job that ends, in whatever order, and runs its end callback.
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
end

--- Whether there are jobs whose end callbacks have not been run.
function Threads:hasjob()
   running(self)
   return self.endcallbacks.n > 0
end

--- Whether an error is kept that synchronize will raise.
function Threads:haserror()
   running(self)
   return #self.errors > 0
end

--- Runs end callbacks until there are no jobs; then raises the errors of all of them.
function Threads:synchronize()
   if not self.pool_ then return end
   while self.endcallbacks.n > 0 do self:dojob() end
   if #self.errors > 0 then
      local message = '\n' .. table.concat(self.errors, '\n')
      self.errors = {}
      dptffi.raise(message)
   end
end

--- specific(true): jobs are added with the number of the worker that is to run them; false: the
-- first free one does. Waits for jobs that are under way. Without an argument: which it is.
function Threads:specific(flag)
   running(self)
   if flag == nil then return self.specific_ end
   if type(flag) ~= 'boolean' then
      fail('specific: got %s, wanted true or false', tostring(flag))
   end
   self:synchronize()
   self.specific_ = flag
end

--- Waits for all jobs, ends the workers, and raises errors that are left.
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

--- safe(f [, mutex]): a function that does what f does, in one thread at a time. It, or several
-- with the same mutex, can be sent to workers.
function threads.safe(f, mutex)
   checkFunctions('threads.safe', 1, f)
   mutex = mutex or threads.Mutex()
   return function(...)
      mutex:lock()
      return unlock(mutex, pcall(f, ...))
   end
end

return threads
