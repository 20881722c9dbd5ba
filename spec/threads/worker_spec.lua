-- dpt.threads.worker: a worker's answers to jobs that raise.
local threads = require 'threads'

describe('dpt.threads.worker', function()
   local pool

   before_each(function() pool = threads(2) end)
   after_each(function() pool:terminate() end)

   it('answers an error with the traceback of its state', function()
      pool:addjob(function()
         local function evil() return 'a' + 1 end
         local r = evil()
         return r
      end)
      local ok, message = pcall(pool.synchronize, pool)
      assert.is_false(ok)
      assert.matches('%[thread %d callback%]', message)
      assert.matches("attempt to perform arithmetic on a string value", message)
      assert.matches("in function 'evil'", message)
   end)

   it('answers the next job after one that raised', function()
      pool:addjob(function() error 'first' end)
      assert.error_matches(function() pool:synchronize() end, 'first')
      local got
      pool:addjob(function() return 'fine' end, function(v) got = v end)
      pool:synchronize()
      assert.equals('fine', got)
   end)

   it('explains for a missing global that globals are not copied', function()
      pool:addjob(function() return workerSpecMissing() end) -- luacheck: ignore
      assert.error_matches(function() pool:synchronize() end,
         "globals are not carried to other threads: define 'workerSpecMissing' in the pool's init")
   end)

   it('raises for a result that cannot be sent, and works on', function()
      pool:addjob(function() return coroutine.create(print) end)
      assert.error_matches(function() pool:synchronize() end, 'result 1 is a thread')
      pool:addjob(function() return 1 end)
      pool:synchronize()
   end)
end)
