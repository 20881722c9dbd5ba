--- dpt.threads.queue: threads.Queue: jobs that any thread adds and any thread takes and runs.
--
-- Invariant: a job runs once, in the thread that takes it, which receives its errors and results.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local objects = require 'dpt.threads.objects'
local write = require 'dpt.threads.writer'
local read = require 'dpt.threads.reader'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local QUEUE = C.DPT_QUEUE
local methods, pointer = objects.methods[QUEUE], objects.pointer

local function about(fn, queue)
   local numbers = ffi.new 'int64_t[3]'
   C.dpt_queue_about(pointer(fn, queue, QUEUE), numbers)
   return {size = tonumber(numbers[0]), share = numbers[1] ~= 0, length = tonumber(numbers[2])}
end

local function label(i) return i == 1 and 'the function' or 'argument ' .. i - 1 end

--- Adds the job f(...); waits while the queue is full.
-- @function threads.Queue:addjob
-- @as shared
-- @param f function: runs in the thread that takes the job
-- @param ...? any: arguments of f
-- @return nothing
-- @usage local q = require('threads').Queue(1, 'threads.sharedserialize')
--    q:addjob(function() end)
--    return q.isfull --> 1
function methods.addjob(queue, f, ...)
   if type(f) ~= 'function' then
      fail('addjob: argument 1 is of type %s, wanted a function', type(f))
   end
   local bytes, size, references, count, held = write(about('addjob', queue).share, label, f, ...)
   lib.queue_put(pointer('addjob', queue, QUEUE), bytes, size, references, count)
   core.keepAlive(held)
end

local function run(values, count) return values[1](unpack(values, 2, count)) end

--- Takes the first job, runs it and returns its results; waits while the queue is empty.
-- @function threads.Queue:dojob
-- @as shared
-- @return the results of the job
-- @usage local q = require('threads').Queue(1, 'threads.sharedserialize')
--    q:addjob(function() return 8 end)
--    return q:dojob(), q.isempty --> 8, 1
function methods.dojob(queue)
   local mail = C.dpt_queue_take(pointer('dojob', queue, QUEUE))
   local ok, values, count = pcall(read, mail)
   C.dpt_mail_free(mail)
   if not ok then error(values, 0) end
   return run(values, count)
end

--- Fields, as in Torch7: the capacity; 1 if it is full or empty, else 0, which may already have
-- changed when the caller reads it.
objects.fields[QUEUE] = {
   size = function(queue) return about('size', queue).size end,
   isfull = function(queue)
      local now = about('isfull', queue)
      return now.length == now.size and 1 or 0
   end,
   isempty = function(queue) return about('isempty', queue).length == 0 and 1 or 0 end,
}

--- Returns a queue of n jobs that shares tensors or copies them; without share, the one with id n.
return function(n, share)
   if type(n) ~= 'number' then
      fail('threads.Queue: got %s, wanted a size or an id', tostring(n))
   end
   if share == nil then return objects.make(QUEUE, n) end
   return objects.make(QUEUE, nil, function(slot) lib.queue_new(slot, n, share and 1 or 0) end)
end
