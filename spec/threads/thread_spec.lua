--- spec for threads.Thread, used directly and as in the low-level program of torch/threads.
local torch = require('dpt').torch
local threads = require 'threads'

describe('threads.Thread', function()
   it('runs a program that signals a condition of this state', function()
      local mutex, condition = threads.Mutex(), threads.Condition()
      local turn = threads.AtomicCounter()
      local thread = threads.Thread(([[
         local t = require 'threads'
         local mutex, condition, turn = t.Mutex(%d), t.Condition(%d), t.AtomicCounter(%d)
         mutex:lock()
         turn:set(7)
         condition:signal()
         mutex:unlock()
      ]]):format(mutex:id(), condition:id(), turn:id()))
      assert.matches('^threads.Thread <%x+>$', tostring(thread))
      assert.equal(('threads.Thread <%x>'):format(thread:id()), tostring(thread))
      mutex:lock()
      while turn:get() == 0 do condition:wait(mutex) end
      mutex:unlock()
      thread:free()
      thread:free()
      assert.equal(7, turn:get())
      assert.equal('threads.Thread: freed', tostring(thread))
      assert.has_error(function() thread:id() end, 'threads.Thread: the thread was freed')
   end)

   it('has ended when it was freed or collected', function()
      local done = threads.AtomicCounter()
      local code = ([[
         require('dpt').sys.sleep(0.05)
         require('threads').AtomicCounter(%d):inc()
      ]]):format(done:id())
      threads.Thread(code):free()
      assert.equal(1, done:get())
      local thread = threads.Thread(code)
      assert.is_table(thread)
      thread = nil -- luacheck: ignore
      collectgarbage()
      collectgarbage()
      assert.equal(2, done:get())
   end)

   it('has sub-modules that can be required', function()
      assert.equal(threads.Threads, require 'threads.threads')
      local serialize = require 'threads.serialize'
      local n = 3
      local saved = serialize.save{f = function() return n end, list = {1, 'x'}}
      assert.equal('torch.CharStorage', torch.type(saved))
      local loaded = serialize.load(saved)
      assert.equal(3, loaded.f())
      assert.same({1, 'x'}, loaded.list)
   end)

   it('reports on stderr why its program fails, and rejects values that are not programs',
      function()
      local script = os.tmpname()
      local file = io.open(script, 'w')
      file:write [[
         require 'dpt'
         local threads = require 'threads'
         threads.Thread('local x = nil + 1'):free()
         threads.Thread('x = ='):free()
         print 'goes on'
      ]]
      file:close()
      local pipe = io.popen('luajit ' .. script .. ' 2>&1')
      local text = pipe:read '*a'
      pipe:close()
      os.remove(script)
      assert.matches('threads.Thread: .-attempt to perform arithmetic on a nil value', text)
      assert.matches("threads.Thread: .-unexpected symbol near '='", text)
      assert.matches('goes on', text)
      assert.has_error(function() threads.Thread(3) end,
         'threads.Thread: got a number, wanted the text of a program')
   end)
end)
