-- Rows D1 to D14: problems reported by users of torch/threads and LuaJIT (docs/user-issues.md).
local ffi = require 'ffi'
local dpt = require 'dpt'
local torch, nn, cutorch, threads = dpt.torch, dpt.nn, dpt.cutorch, dpt.threads
local dptffi = require 'dpt.ffi'
local read = require 'spec.support.read'
local run = require 'spec.support.run'
local torture = require 'spec.support.torture'

local function seconds(f, ...)
   local from = dptffi.C.dpt_clock()
   f(...)
   return dptffi.C.dpt_clock() - from
end

local function raises(pattern, f, ...)
   local ok, message = pcall(f, ...)
   assert.is_false(ok)
   assert.matches(pattern, message)
end

describe("the users' row", function()
   local before

   setup(function()
      before = threads.serialization()
      threads.serialization 'threads.sharedserialize'
   end)
   teardown(function() threads.serialization(before) end)

   it('D1: an error of one worker comes at once, others do not hang, nothing leaks', function()
      local pool, tensor = threads(2), torch.FloatTensor(10)
      local function once(i)
         pool:addjob(function() error('job ' .. i) end, nil, tensor)
         pool:addjob(function(t) return t end, function() end, tensor)
         raises('job ' .. i, pool.synchronize, pool)
      end
      once(0)
      local took = {}
      for i = 1, 21 do took[i] = seconds(once, i) end
      table.sort(took)
      local usual = seconds(function()
         for _ = 1, 21 do
            pool:addjob(function(t) return t end, function() end, tensor)
            pool:synchronize()
         end
      end) / 21
      assert.is_true(took[11] < 0.1 + 10 * usual)
      jit.off() -- traces are counted as memory, too
      jit.flush()
      collectgarbage()
      local used = collectgarbage 'count'
      for i = 1, torture(10000) do once(i) end
      collectgarbage()
      collectgarbage()
      local grown = collectgarbage 'count' - used
      jit.on()
      assert.is_true(grown < 100, grown .. ' KB')
      pool:terminate()
   end)

   it('D2: errors and yields in end callbacks do not make synchronize wait for ever', function()
      local pool, random = threads(2), 1
      local function draw(n)
         random = random * 48271 % 2147483647
         return random % n
      end
      local results = 0
      for _ = 1, torture(2000) do
         local thread = coroutine.create(function()
            for _ = 1, 1 + draw(3) do
               local endcallback = ({coroutine.yield, function() error 'end' end,
                  function() results = results + 1 end})[1 + draw(3)]
               local job = draw(4) == 0 and function() error 'job' end or function() end
               pool:addjob(job, endcallback)
            end
            pool:synchronize()
         end)
         -- some coroutines are abandoned
         while coroutine.status(thread) ~= 'dead' and draw(4) > 0 do coroutine.resume(thread) end
      end
      pcall(pool.synchronize, pool)
      assert.is_false(pool:hasjob())
      assert.is_true(results > 0)
      pool:terminate()
   end)

   it('D2: an end callback may be coroutine.yield', function()
      local pool, expected = threads(1), 1
      for r in coroutine.wrap(function()
         pool:addjob(function() return 1 end, coroutine.yield)
         pool:addjob(function() return 2 end, coroutine.yield)
         pool:synchronize()
      end) do
         assert.equals(expected, r)
         expected = expected + 1
      end
      assert.equals(3, expected)
      pool:terminate()
   end)

   it('D3: a worker that cannot start is an error in bounded time #noasan', function()
      local code = [[
         require 'dpt'
         local ok, why = pcall(require 'threads', 64)
         print(ok, why)
      ]]
      local text = run.ended(code, 'ulimit -v 700000')
      assert.matches('^false\t[^\n]*threads: worker %d+ of 64: ', text:lower())
      assert.matches('ulimit %-v%) is 700000 kb', text:lower())
   end)

   it('D3: no worker starts where the address space has no room for all of them #noasan', function()
      local text = run.ended([=[
         require 'dpt'
         local ffi, threads = require 'ffi', require 'threads'
         ffi.cdef [[struct limits {uint64_t soft, hard;}; int getpid(void);
            int setrlimit(int, const struct limits *);]]
         local kB = tonumber(io.open('/proc/self/status'):read('*a'):match 'VmSize:%s*(%d+)')
         local MiB = 2 ^ 20
         ffi.C.setrlimit(9, ffi.new('struct limits', kB * 1024 + 600 * MiB, 2000 * MiB))
         print(pcall(threads, 8))
         local threadsHere = io.popen('ls /proc/' .. ffi.C.getpid() .. '/task')
         for _ in threadsHere:lines() do io.write 'thread ' end
         local pool, sum = threads(4), 0
         for i = 1, 100 do pool:addjob(function() return i end, function(n) sum = sum + n end) end
         pool:synchronize()
         print(sum)
      ]=])
      assert.matches('^false\t[^\n]*Threads: worker 6 of 8: its stack and state do not fit', text)
      assert.matches('\nthread 5050\n0$', text)
   end)

   it('D4: an init function runs before what needs its classes is read', function()
      local function define()
         local place = {}
         local Point = torch.class('userIssuesD.Point', place)
         function Point:__init(x) self.x = x end
         return place.Point
      end
      local Point = define()
      local point, x = Point(3), nil
      local pool = threads(1, function() require('dpt') end, define, function() return point.x end)
      pool:addjob(function() return point.x end, function(v) x = v end)
      pool:synchronize()
      assert.equals(3, x)
      pool:terminate()
      pool = threads(1)
      pool:addjob(function() return point.x end)
      raises("class 'userIssuesD.Point' is unknown in this thread: let the pool's init", function()
         pool:synchronize()
      end)
      pool:terminate()
   end)

   it('D5: a large tensor goes to a worker and back without being copied', function()
      local write = require 'dpt.threads.writer'
      local large = torch.ByteTensor(2 ^ 28) -- no page of it is ever touched
      local small = torch.ByteTensor(1)
      assert.equals((select(2, write(true, tostring, small))),
         (select(2, write(true, tostring, large))))
      local pool = threads(1)
      local function there(t)
         pool:addjob(function(x) return x end, function(x)
            assert.is_true(x:storage() == t:storage())
         end, t)
         pool:synchronize()
      end
      there(small)
      local quick, best = math.huge, math.huge
      for _ = 1, 20 do
         quick = math.min(quick, seconds(there, small))
         best = math.min(best, seconds(there, large))
      end
      assert.is_true(best < 100 * quick) -- a copy of 256 MiB would take thousands of times as long
      pool:terminate()
   end)

   it('D6: a global that is missing in a worker says that globals are not carried', function()
      local pool = threads(1)
      for _, text in ipairs{'return missing.field', 'missing()', 'return missing + 1'} do
         local job = loadstring(text)
         pool:addjob(job)
         raises("global 'missing' %(a nil value%) %(globals are not carried to other threads:",
            pool.synchronize, pool)
      end
      pool:terminate()
   end)

   it('D7: functions keep the upvalues that they share', function()
      local n, got = 1, nil
      local function set(v) n = v end
      local function get() return n end
      local pool = threads(1)
      pool:addjob(function()
         set(5)
         return get(), set, get
      end, function(v, newSet, newGet)
         newSet(v + 1)
         got = newGet()
      end)
      pool:synchronize()
      assert.equals(6, got)
      assert.equals(1, n)
      pool:terminate()
   end)

   it('D8: pointers keep all of their bits; a pool itself is rejected', function()
      local pool, seen = threads(1), {}
      local pointers = {ffi.cast('void *', 0xfedcba9876543210ULL), ffi.cast('void *', -1),
         ffi.cast('char *', 0x7fffffffffffULL), 0xffffffffffffffffULL,
         debug.upvalueid(function() return pool end, 1)}
      pool:addjob(function(...) return ... end, function(...) seen = {...} end, unpack(pointers))
      pool:synchronize()
      for i, p in ipairs(pointers) do assert.is_true(seen[i] == p) end
      raises('which cannot be sent to another thread', pool.addjob, pool, function() end, nil, pool)
      pool:terminate()
   end)

   it('D9: page-locked tensors are filled in a worker that has no GPU library', function()
      local pool, sum = threads(1), 0
      local pinned = cutorch.createCudaHostTensor(10):zero()
      pool:addjob(function() pinned:fill(2) return pinned:sum() end, function(v) sum = v end)
      pool:synchronize()
      assert.equals(20, sum)
      assert.equals(20, pinned:sum())
      pool:addjob(function()
         return torch.CudaTensor and require('cutorch').createCudaHostTensor(3):nElement()
      end, function(v) sum = v end)
      pool:synchronize()
      assert.equals(3, sum)
      pool:terminate()
      if require('spec.support.gpu').isHere then return end -- libcuda is loaded here
      for line in io.lines '/proc/self/maps' do assert.is_nil(line:match 'libcuda') end
   end)

   it('D10: a network gives the same bits in 1 to 64 threads', function()
      torch.manualSeed(1)
      local net = nn.Sequential():add(nn.Linear(20, 30)):add(nn.Tanh()):add(nn.Linear(30, 5))
      local input = torch.randn(7, 20)
      local expected = net:forward(input):clone()
      for _, n in ipairs{1, 2, 8, 64} do
         local pool, good, jobs = threads(n), 0, 2 * n
         for _ = 1, jobs do
            pool:addjob(function()
               local mine = net:clone()
               torch.manualSeed(3)
               return mine:forward(input), torch.randn(4)
            end, function(output, drawn)
               torch.manualSeed(3)
               if output:equal(expected) and drawn:equal(torch.randn(4)) then good = good + 1 end
            end)
         end
         pool:synchronize()
         assert.equals(jobs, good)
         pool:terminate()
      end
   end)

   -- readline calls the prompt's callback on the thread that called readline (the editor's spec).
   it('D11, D12: no thread calls into a Lua state: one FFI callback, of the prompt', function()
      local count, callbacks = 0, {}
      for path in io.popen "find lua -name '*.lua'":lines() do
         local text = read(path)
         count = count + 1
         for _ in text:gmatch "ffi%.cast%s*%(?%s*['\"][^'\"]*%(%s*%*" do
            callbacks[#callbacks + 1] = path
         end
         assert.is_nil(text:match ':set%(%s*function', path)
      end
      assert.is_true(count > 100)
      assert.same({'lua/dpt/launcher/editor.lua'}, callbacks)
   end)

   it('D13: the Lua heap is not limited to 2 GB', function()
      assert.is_true(ffi.abi 'gc64')
      if os.getenv 'DPT_TORTURE' ~= 'full' then return end
      local text = run.ended([[
         local list, i = {}, 0
         while collectgarbage 'count' < 2.5 * 2 ^ 20 do
            i = i + 1
            list[i] = ('x'):rep(2 ^ 16) .. i
         end
         print(#list == i, list[1]:sub(-2), list[i]:sub(-3) == tostring(i):sub(-3))
      ]])
      assert.equals('true\tx1\ttrue\n0', text)
   end)

   it('D14: 256 Lua states live at once', function()
      local pools, sum = {}, 0
      for k = 1, 4 do pools[k] = threads(64) end
      for k = 1, 4 do
         pools[k]:specific(true)
         for i = 1, 64 do
            pools[k]:addjob(i, function() return __threadid end, function(v) sum = sum + v end)
         end
      end
      for k = 1, 4 do pools[k]:terminate() end
      assert.equals(4 * 64 * 65 / 2, sum)
   end)
end)
