--- dpt.threads.objects: Mutex, Condition and AtomicCounter: objects that several threads can hold
-- at once (queue.lua adds Queue).
--
-- Invariant: an object lives as long as a Lua state or a mail holds it. It is passed to
-- another thread as an upvalue, argument or result, or by its number: threads.Mutex(mutex:id()).
local dptffi = require 'dpt.ffi'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local istype = ffi.istype

local objects = {type = ffi.typeof 'struct { dpt_shared *shared_; }'}
--- kind -> the C type of its objects, if it is a different one (dpt.threads.tds).
objects.types = {}

--- Returns true if v is an object of any kind.
function objects.is(v)
   if istype(objects.type, v) then return true end
   for _, ctype in pairs(objects.types) do
      if istype(ctype, v) then return true end
   end
   return false
end

local kinds = {[C.DPT_MUTEX] = 'Mutex', [C.DPT_CONDITION] = 'Condition',
   [C.DPT_COUNTER] = 'AtomicCounter', [C.DPT_QUEUE] = 'Queue'}
local methods = {[C.DPT_MUTEX] = {}, [C.DPT_CONDITION] = {}, [C.DPT_COUNTER] = {},
   [C.DPT_QUEUE] = {}}
local fields = {} -- kind -> name -> function(object) that computes it
objects.methods, objects.fields = methods, fields

local function kindOf(object) return C.dpt_shared_kind(object.shared_) end

--- Returns the C object; raises if it does not have that kind.
local function pointer(fn, object, kind)
   if not istype(objects.type, object) or object.shared_ == nil then
      fail('%s: got %s, wanted a threads.%s that was not freed', fn, tostring(object), kinds[kind])
   elseif kindOf(object) ~= kind then
      fail('%s: got a threads.%s, wanted a threads.%s', fn, kinds[kindOf(object)], kinds[kind])
   end
   return object.shared_
end
objects.pointer = pointer

ffi.metatype(objects.type, {
   __gc = function(object) C.dpt_shared_release(object.shared_) end,
   __eq = function(a, b)
      return istype(objects.type, a) and istype(objects.type, b) and a.shared_ == b.shared_
   end,
   __index = function(object, key)
      if object.shared_ == nil then
         fail 'threads: the Mutex, Condition, counter or Queue was freed'
      end
      local kind = kindOf(object)
      local field = fields[kind] and fields[kind][key]
      if field then return field(object) end
      return methods[kind][key]
   end,
   __tostring = function(object)
      if object.shared_ == nil then return 'threads: freed' end
      return ('threads.%s <%d>'):format(kinds[kindOf(object)],
         tonumber(C.dpt_shared_id(object.shared_)))
   end,
})

for kind in pairs(kinds) do
   local own = methods[kind]

   --- Returns the number by which another thread can find the object.
   -- @function threads.Mutex:id
   -- @as shared
   -- @also threads.Condition:id()
   -- @also threads.AtomicCounter:id()
   -- @also threads.Queue:id()
   -- @return a number
   -- @usage type(require('threads').Mutex():id()) --> number
   function own.id(object) return tonumber(C.dpt_shared_id(pointer('id', object, kind))) end

   --- Releases this reference before the collector does; others may still hold the object.
   -- @function threads.Mutex:free
   -- @as shared
   -- @also threads.Condition:free()
   -- @also threads.AtomicCounter:free()
   -- @also threads.Queue:free()
   -- @return nothing
   -- @usage local m = require('threads').Mutex()
   --    m:free()
   --    return tostring(m) --> threads: freed
   function own.free(object)
      C.dpt_shared_release(pointer('free', object, kind))
      object.shared_ = nil
   end
end

--- Returns a new object (new(slot) creates it), or the one with that id.
function objects.make(kind, id, new)
   local slot, object = ffi.new 'dpt_shared *[1]', objects.type()
   if id == nil then
      new(slot)
   else
      if type(id) ~= 'number' then
         fail('threads.%s: got %s, wanted nothing or an id', kinds[kind], tostring(id))
      end
      lib.shared_find(slot, kind, id)
   end
   object.shared_ = slot[0]
   return object
end

local mutex, condition, counter = methods[C.DPT_MUTEX], methods[C.DPT_CONDITION],
   methods[C.DPT_COUNTER]

--- Locks the mutex; waits while another thread holds it. Raises if this thread holds it already.
-- @function threads.Mutex:lock
-- @as shared
-- @return nothing
-- @usage local m = require('threads').Mutex()
--    m:lock()
--    local _, why = pcall(m.lock, m)
--    m:unlock()
--    return why:match 'this thread.*' --> this thread has locked the mutex already
function mutex.lock(object) lib.mutex_lock(pointer('lock', object, C.DPT_MUTEX)) end

--- Unlocks the mutex; raises if this thread does not hold it.
-- @function threads.Mutex:unlock
-- @as shared
-- @return nothing
-- @usage local m = require('threads').Mutex()
--    m:lock()
--    m:unlock()
--    return select(2, pcall(m.unlock, m)):match 'this thread.*'
--    --> this thread has not locked the mutex
function mutex.unlock(object) lib.mutex_unlock(pointer('unlock', object, C.DPT_MUTEX)) end

--- Unlocks the mutex, waits for a signal, and locks the mutex again. It may also wake up without a
-- signal: check the condition again.
-- @function threads.Condition:wait
-- @as shared
-- @param mutex Mutex: locked by this thread
-- @return nothing
-- @usage local t = require 'threads'
--    local m, c, n = t.Mutex(), t.Condition(), t.AtomicCounter()
--    local pool = t.Threads(1)
--    m:lock()
--    pool:addjob(function() m:lock() n:inc() c:signal() m:unlock() end)
--    while n:get() == 0 do c:wait(m) end
--    m:unlock()
--    pool:terminate()
--    return n:get() --> 1
function condition.wait(object, lock)
   lib.condition_wait(pointer('wait', object, C.DPT_CONDITION), pointer('wait', lock, C.DPT_MUTEX))
end

--- Wakes one waiting thread.
-- @function threads.Condition:signal
-- @as shared
-- @return nothing
-- @usage require('threads').Condition():signal()
function condition.signal(object)
   C.dpt_condition_wake(pointer('signal', object, C.DPT_CONDITION), 0)
end

--- Wakes all waiting threads.
-- @function threads.Condition:broadcast
-- @as shared
-- @return nothing
-- @usage require('threads').Condition():broadcast()
function condition.broadcast(object)
   C.dpt_condition_wake(pointer('broadcast', object, C.DPT_CONDITION), 1)
end

--- Increments the counter atomically.
-- @function threads.AtomicCounter:inc
-- @as shared
-- @return the new value
-- @usage local n = require('threads').AtomicCounter()
--    n:inc()
--    return n:inc() --> 2
function counter.inc(object)
   return tonumber(C.dpt_counter_add(pointer('inc', object, C.DPT_COUNTER), 1))
end

--- Decrements the counter atomically.
-- @function threads.AtomicCounter:dec
-- @as shared
-- @return the new value
-- @usage require('threads').AtomicCounter():dec() --> -1
function counter.dec(object)
   return tonumber(C.dpt_counter_add(pointer('dec', object, C.DPT_COUNTER), -1))
end

--- Returns the value of the counter.
-- @function threads.AtomicCounter:get
-- @as shared
-- @return a number
-- @usage require('threads').AtomicCounter():get() --> 0
function counter.get(object)
   return tonumber(C.dpt_counter_get(pointer('get', object, C.DPT_COUNTER)))
end

--- Sets the value of the counter.
-- @function threads.AtomicCounter:set
-- @as shared
-- @param value number: an integer
-- @return the counter
-- @usage require('threads').AtomicCounter():set(9):get() --> 9
function counter.set(object, value)
   C.dpt_counter_set(pointer('set', object, C.DPT_COUNTER), value)
   return object
end

local function constructor(kind)
   local function new(slot) lib.shared_new(slot, kind) end
   return function(id) return objects.make(kind, id, new) end
end

--- Creates a mutex, or returns the one with an id.
-- @function threads.Mutex
-- @as shared
-- @param id? number: result of id(), in this or another thread
-- @return a mutex
-- @usage local Mutex = require('threads').Mutex
--    local m = Mutex()
--    return Mutex(m:id()) == m, Mutex() == m --> true, false
objects.Mutex, objects.Condition = constructor(C.DPT_MUTEX), constructor(C.DPT_CONDITION)

--- Creates an atomic counter, initially 0, or returns the one with an id.
-- @function threads.AtomicCounter
-- @as shared
-- @param id? number: result of id(), in this or another thread
-- @return a counter
-- @usage require('threads').AtomicCounter():inc() --> 1
objects.AtomicCounter = constructor(C.DPT_COUNTER)

--- Tags shared by the reference entries of Mutex, Condition, AtomicCounter and Queue.
-- @pattern shared
-- @within threads
-- @follows Torch7's package threads
-- @raise if the object has the wrong type or was freed

--- Creates a condition variable, or returns the one with an id.
-- @function threads.Condition
-- @as shared
-- @param id? number: result of id(), in this or another thread
-- @return a condition
-- @usage local Condition = require('threads').Condition
--    local c = Condition()
--    return Condition(c:id()) == c, Condition() == c --> true, false

return objects
