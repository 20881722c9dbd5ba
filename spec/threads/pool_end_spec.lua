--- spec for how programs with workers end: no hang, no crash, the right status. #noasan
local run = require 'spec.support.run'

-- Workers that compute forever, in compiled Lua and in kernels.
local busy = [[
   require 'dpt'
   local threads = require 'threads'
   local pool = threads(3)
   local function kernels()
      local a, b = torch.rand(200, 200), torch.rand(200, 200)
      local c = a:float()
      while true do torch.mm(a, b) torch.mm(c, c) end
   end
   local function lua() while true do end end
   local function start(...)
      for i = 1, select('#', ...) do pool:addjob((select(i, ...))) end
      require('dpt.ffi').C.dpt_sleep(0.05)
   end
]]

-- Returns the output of the code, followed by its exit status.
local function ends(code)
   return run.ended(busy .. code)
end

describe('A program with workers #noasan', function()
   it('ends while they are idle, or at work', function()
      assert.equals('0', ends '')
      assert.equals('0', ends 'start(kernels, lua, kernels)')
      assert.equals('0', ends 'for i = 1, 100 do pool:addjob(function() end) end')
   end)

   it('ends by os.exit, here or in a worker', function()
      assert.equals('5', ends 'start(kernels, lua) os.exit(5)')
      assert.equals('5', ends 'start(kernels, lua) os.exit(5, true)')
      assert.equals('7', ends [[
         start(kernels, lua, function() os.exit(7) end)
         kernels()
      ]])
      assert.equals('out7', ends [[
         pool:addjob(function() io.write 'out' os.exit(7) end)
         pool:synchronize()
      ]])
   end)

   it('ends with its own error', function()
      assert.matches('over there.*\n1$', ends [[start(kernels, lua) error 'over there']])
   end)

   it('ends though pools were dropped, also inside workers', function()
      assert.equals('0', ends [[
         start(kernels, lua)
         for i = 1, 5 do
            threads(2):addjob(lua)
            collectgarbage()
         end
      ]])
      assert.equals('0', ends [[
         pool:addjob(function()
            inner = require 'threads' (2)
            for _ = 1, 2 do inner:addjob(function() while true do end end) end
         end)
         pool:terminate()
      ]])
   end)

   it('ends by Ctrl-C within a second', function()
      for _, code in ipairs{'start(kernels, lua, lua) pool:synchronize()',
         'start(lua) kernels()', 'start(lua) lua()', "start(lua) io.popen 'sleep 99':read()"} do
         local status, inTime = run.interrupted(busy .. "print 'ready' " .. code)
         assert.equals(130, status)
         assert.is_true(inTime)
      end
   end)

   it('raises in a child of fork that it has no workers', function()
      assert.matches('false.*this process is a child of fork.*\n0$', ends [[
         local ffi = require 'ffi'
         ffi.cdef 'int fork(void); int waitpid(int, int *, int); void _exit(int);'
         local child = ffi.C.fork()
         if child == 0 then
            print(pcall(pool.addjob, pool, function() end))
            io.stdout:flush()
            pool = nil
            collectgarbage()
            ffi.C._exit(0)
         end
         ffi.C.waitpid(child, nil, 0)
         pool:terminate()
      ]])
   end)
end)
