local dpt = require 'dpt'
local sys, torch = dpt.sys, dpt.torch

describe('sys', function()
   it('reads and measures time', function()
      local before = os.time()
      local now = sys.clock()
      -- os.time's clock may lag by a tick and still report the previous second
      assert.is_true(now >= before and now <= os.time() + 2)
      sys.tic()
      sys.sleep(0.02)
      local seconds = sys.toc()
      assert.is_true(seconds >= 0.02 and seconds <= sys.clock() - now)
   end)

   it('accepts the result of torch.tic, and no other value', function()
      assert.is_true(torch.toc(torch.tic()) >= 0)
      assert.has_error(function() torch.toc() end,
         'torch.toc: got a nil, wanted the number that torch.tic returned')
   end)

   it('runs commands', function()
      assert.equal('a\nb', sys.execute 'echo; echo a; echo b >&2')
      assert.equal('a', sys.fexecute 'echo a')
      assert.equal('linux', sys.uname())
   end)

   it('raises for arguments of other kinds', function()
      for name, argument in pairs{sleep = 'seconds', usleep = 'microseconds',
         execute = 'command'} do
         assert.error_matches(function() sys[name]() end,
            ("sys.%s: argument '%s' is nil, wanted a "):format(name, argument))
      end
   end)

   it('splits texts', function()
      assert.same({'a', 'b', 'c'}, sys.split('a,b,c', ','))
      assert.same({'a', '', 'c'}, sys.split('a,,c', ','))
      assert.same({'a'}, sys.split(',a,', ','))
      assert.same({}, sys.split('', ','))
      assert.same({'one', 'two'}, sys.split('one  two', '%s+'))
   end)

   it('has colours for a terminal', function()
      assert.equal('\27[0;31m', sys.COLORS.red)
      assert.equal('\27[1;31m', sys.COLORS.Red)
      assert.equal('\27[41m', sys.COLORS._red)
      assert.equal('\27[0m', sys.COLORS.none)
   end)
end)

describe('torch.Timer', function()
   it('stops, resumes and starts again', function()
      local timer = torch.Timer()
      sys.sleep(0.02)
      local first = timer:stop():time().real
      assert.is_true(first >= 0.02)
      sys.sleep(0.01)
      assert.equal(first, timer:time().real)
      timer:resume()
      sys.sleep(0.01)
      assert.is_true(timer:time().real >= first + 0.01)
      local now = sys.clock()
      local anew = timer:reset():time().real
      assert.is_true(anew <= sys.clock() - now)
   end)

   it('counts the time that the CPU worked', function()
      local timer, n = torch.Timer(), 0
      while timer:time().user < 0.01 and n < 1e8 do n = n + 1 end
      assert.is_true(timer:time().user >= 0.01)
   end)
end)

describe('torch', function()
   it('reads and writes the environment', function()
      torch.setenv('DPT_SPEC', 5)
      assert.equal('5', torch.getenv 'DPT_SPEC')
      torch.setenv('DPT_SPEC', nil)
      assert.is_nil(torch.getenv 'DPT_SPEC')
   end)

   it('recognizes terminals', function()
      assert.is_false(torch.isatty(io.tmpfile()))
   end)
end)
