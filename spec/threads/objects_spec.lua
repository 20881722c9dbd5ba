--- spec for threads.Mutex, Condition, AtomicCounter and safe.
local threads = require 'threads'

describe('Objects that threads share', function()
   local pool

   setup(function() pool = threads(3) end)
   teardown(function() pool:terminate() end)

   it('count the increments of all threads', function()
      local counter = threads.AtomicCounter():set(5)
      for _ = 1, 6 do
         pool:addjob(function()
            for _ = 1, 1000 do counter:inc() end
            for _ = 1, 500 do counter:dec() end
         end)
      end
      pool:synchronize()
      assert.equals(3005, counter:get())
      assert.equals(3006, counter:inc())
      assert.equals(3005, counter:dec())
      assert.equals(1, counter:set(1):get())
   end)

   it('are found by their id', function()
      local mutex, counter = threads.Mutex(), threads.AtomicCounter()
      local id, counterId = mutex:id(), counter:id()
      assert.is_true(threads.Mutex(id) == mutex)
      for _ = 1, 3 do
         pool:addjob(function()
            local t = require 'threads'
            local m, c = t.Mutex(id), t.AtomicCounter(counterId)
            for _ = 1, 200 do
               m:lock()
               c:set(c:get() + 1)
               m:unlock()
            end
         end)
      end
      pool:synchronize()
      assert.equals(600, counter:get())
      assert.error_matches(function() threads.Condition(id) end, 'Condition: there is none')
      assert.error_matches(function() threads.Mutex(2 ^ 40) end, 'Mutex: there is none with the id')
      assert.error_matches(function() threads.Mutex 'x' end, 'got x, wanted nothing or an id')
   end)

   it('exclude other threads, and wake a thread that waits', function()
      local mutex, condition = threads.Mutex(), threads.Condition()
      local turn, last = threads.AtomicCounter(), 3
      local order = {}
      for i = 1, 3 do
         pool:addjob(function(me)
            mutex:lock()
            while turn:get() ~= me do condition:wait(mutex) end
            turn:inc()
            condition:broadcast()
            mutex:unlock()
            return me
         end, function(me) order[#order + 1] = me end, last - i)
      end
      pool:synchronize()
      assert.equals(3, turn:get())
      assert.equals(3, #order)
      condition:signal()
   end)

   it('raise for wrong use by one message', function()
      local mutex, condition = threads.Mutex(), threads.Condition()
      assert.error_matches(function() mutex:unlock() end, 'this thread has not locked the mutex')
      mutex:lock()
      assert.error_matches(function() mutex:lock() end, 'this thread has locked the mutex already')
      mutex:unlock()
      assert.error_matches(function() condition:wait(mutex) end, 'has not locked the mutex')
      assert.error_matches(function() condition:wait(condition) end, 'wanted a threads.Mutex')
      assert.error_matches(function() condition:wait(3) end, 'got 3, wanted a threads.Mutex')
      assert.equals('threads.Mutex <' .. mutex:id() .. '>', tostring(mutex))
      mutex:free()
      assert.error_matches(function() mutex:lock() end, 'was freed')
      assert.error_matches(function() pool:addjob(function() return mutex end) end,
         "upvalue 'mutex' of the function is a cdata")
   end)

   it('allow functions to run in one thread at a time', function()
      local counter = threads.AtomicCounter()
      local add = threads.safe(function(n)
         local v = counter:get()
         for _ = 1, 1000 do v = v + 0 end
         counter:set(v + n)
         return v, nil
      end)
      for _ = 1, 6 do
         pool:addjob(function() for _ = 1, 100 do add(2) end end)
      end
      pool:synchronize()
      assert.equals(1200, counter:get())
      assert.equals(2, select('#', add(1)))
      local mutex = threads.Mutex()
      local fails = threads.safe(function() error 'inside' end, mutex)
      assert.error_matches(fails, 'inside')
      assert.error_matches(fails, 'inside') -- it has been unlocked
      mutex:lock()
      mutex:unlock()
   end)
end)
