--- spec for errors in workers, in end callbacks and in sent values; the pool works after each.
local run = require 'spec.support.run'
local threads = require 'threads'
local torch = require 'torch'

describe('Errors in threads', function()
   local pool

   before_each(function() pool = threads(2) end)
   after_each(function() pool:terminate() end)

   -- Asserts that the pool has no jobs left and can run one.
   local function works()
      assert.is_false(pool:haserror())
      assert.is_false(pool:hasjob())
      local got
      pool:addjob(function() return 'fine' end, function(v) got = v end)
      pool:synchronize()
      assert.equals('fine', got)
   end

   it('of several jobs are all raised, after the others have run', function()
      local done = 0
      for i = 1, 20 do
         pool:addjob(function()
            if i == 3 or i == 4 then error('job ' .. i) end
         end, function() done = done + 1 end)
         if pool:haserror() then break end
      end
      local ok, message = pcall(pool.synchronize, pool)
      assert.is_false(ok)
      assert.matches('job 3', message)
      assert.matches('job 4', message)
      assert.equals(pool.endcallbacks.n, 0)
      works()
   end)

   it('of values other than strings become text', function()
      pool:addjob(function() error{} end)
      assert.error_matches(function() pool:synchronize() end, 'callback%] table: 0x')
      pool:addjob(function() error() end)
      assert.error_matches(function() pool:synchronize() end, 'callback%] nil')
      works()
   end)

   it('in an end callback are also raised', function()
      pool:addjob(function() return 1 end, function() error 'in the end' end)
      local ok, message = pcall(pool.synchronize, pool)
      assert.is_false(ok)
      assert.matches('endcallback%] .*errors_spec.lua:%d+: in the end\nstack traceback', message)
      works()
   end)

   it('of the next job are raised by addjob', function()
      pool:addjob(function() error 'first' end)
      pool:dojob()
      assert.is_true(pool:haserror())
      assert.error_matches(function() pool:addjob(function() end) end, 'first')
      works()
   end)

   it('are raised by terminate, which ends all the same', function()
      local other = threads(1)
      other:addjob(function() error 'late' end)
      assert.error_matches(function() other:terminate() end, 'late')
      assert.is_false(other:isrunning())
   end)

   it('of a class that is unknown to the worker name it', function()
      local Local = torch.class('errorsSpec.Local', {}) -- luacheck: ignore
      pool:addjob(function() end, nil, setmetatable({}, torch.getmetatable 'errorsSpec.Local'))
      assert.error_matches(function() pool:synchronize() end,
         "class 'errorsSpec.Local' is unknown in this thread: let the pool's init")
      works()
   end)

   it('of results that are unknown to this state name the class', function()
      pool:addjob(function()
         local C = {}
         torch.class('errorsSpec.Theirs', C)
         return C.Theirs()
      end)
      assert.error_matches(function() pool:synchronize() end,
         "class 'errorsSpec.Theirs' is unknown")
      works()
   end)

   it('in init functions raise in the constructor', function()
      local ok, message = pcall(threads, 2, function(i) if i == 2 then error 'not me' end end)
      assert.is_false(ok)
      assert.matches('%[thread 2 init%] .*not me\nstack traceback', message)
      assert.is_nil(message:match '%[thread 1')
   end)

   it('of threads that cannot start raise in the constructor', function()
      local text = run.lua([[
         require 'dpt'
         local threads = require 'threads'
         print(pcall(threads, 4))
         local pool = threads(4)
         pool:addjob(function() return 5 end, print)
         pool:terminate()
      ]], {DPT_FAULT = 'thread:3'})
      assert.matches('^false\t.*Threads: worker 3 of 4: its thread can not start', text)
      assert.matches('\n5\n$', text)
   end)
end)
