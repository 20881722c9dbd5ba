-- dpt.device: devices, streams, memory, seeds; rows J2 and J3 of the user issues.
local dpt = require 'dpt'
local torch, cutorch, paths = dpt.torch, dpt.cutorch, dpt.paths
local dptffi = require 'dpt.ffi'
local asleep = require 'spec.support.asleep'
local run = require 'spec.support.run'

--- Returns the milliseconds that f takes.
local function time(f)
   local timer = torch.Timer()
   f()
   return timer:time().real * 1000
end

describe('Devices', function()
   after_each(function()
      cutorch.setDevice(1)
      cutorch.setDefaultStream()
   end)

   it('are counted and chosen from 1 #devices2', function()
      assert.is_true(cutorch.getDeviceCount() >= 2)
      assert.equal(1, cutorch.getDevice())
      cutorch.setDevice(2)
      assert.equal(2, cutorch.getDevice())
      assert.equal(2, torch.CudaTensor(3):getDevice())
   end)

   it('that do not exist are rejected by name', function()
      local n = cutorch.getDeviceCount()
      for _, bad in ipairs{0, -1, n + 1} do
         assert.error_matches(function() cutorch.setDevice(bad) end,
            ('setDevice: there is no device %d, wanted 1 to %d'):format(bad, n):gsub('-', '%%-'))
      end
      assert.error_matches(function() cutorch.setDevice() end, "'device' is of type nil")
      assert.error_matches(function() cutorch.setDevice(1.5) end, "'device' is 1.5")
      assert.error_matches(function() cutorch.setDevice(2 ^ 40) end, 'wanted a whole number')
      assert.error_matches(function() cutorch.getMemoryUsage(0) end, 'no device 0')
      assert.error_matches(function() cutorch.memoryStats(n + 1) end, 'no device ' .. n + 1)
      assert.equal(1, cutorch.getDevice())
   end)

   it('raise for withDeviceOf without a tensor', function()
      local storage = torch.FloatTensor(1):storage()
      for name, wrong in pairs{['a boolean'] = false, ['a number'] = 1, ['a string'] = 'x',
         ['a table'] = {}, ['a torch.FloatStorage'] = storage} do
         assert.error_matches(function() cutorch.withDeviceOf(wrong, print) end,
            "withDeviceOf: argument 'tensor' is " .. name .. ', wanted a tensor')
      end
      assert.error_matches(function() cutorch.withDeviceOf() end,
         "withDeviceOf: argument 'tensor' is nil, wanted a tensor")
   end)

   it('raise for withDevice and withDeviceOf without a function', function()
      local t = torch.CudaTensor(1)
      local message = ": argument 'f' is %s, wanted a function"
      for name, wrong in pairs{['a boolean'] = false, ['a number'] = 1, ['a string'] = 'x',
         ['a table'] = {}} do
         local text = message:format(name)
         assert.error_matches(function() cutorch.withDevice(1, wrong) end, 'withDevice' .. text)
         assert.error_matches(function() cutorch.withDeviceOf(t, wrong) end, 'withDeviceOf' .. text)
      end
      assert.error_matches(function() cutorch.withDevice(1) end, message:format 'nil')
      local callable = setmetatable({}, {__call = function(_, x) return x + 1 end})
      assert.equal(3, cutorch.withDeviceOf(t, callable, 2))
      assert.equal(3, cutorch.withDevice(1, callable, 2))
   end)

   it('are set back by withDevice, also after an error #devices2', function()
      local a, b = cutorch.withDevice(2, function(x) return cutorch.getDevice(), x end, 'x')
      assert.same({2, 'x', 1}, {a, b, cutorch.getDevice()})
      local thrown = {}
      local ok, got = pcall(cutorch.withDevice, 2, function() error(thrown) end)
      assert.is_false(ok)
      assert.equal(thrown, got)
      assert.equal(1, cutorch.getDevice())
   end)

   it('have their properties #devices2', function()
      local properties = cutorch.getDeviceProperties(2)
      assert.is_string(properties.name)
      assert.is_true(properties.multiProcessorCount >= 1)
      assert.is_true(properties.totalGlobalMem > 0)
      assert.is_true(cutorch.getPeerToPeerAccess(1, 2))
      cutorch.setPeerToPeerAccess(1, 2, false)
      assert.is_false(cutorch.getPeerToPeerAccess(1, 2))
      assert.is_true(cutorch.getPeerToPeerAccess(2, 1))
      cutorch.setPeerToPeerAccess(1, 2, true)
      assert.is_true(cutorch.getPeerToPeerAccess(1, 2))
      for _, fn in ipairs{'getPeerToPeerAccess', 'setPeerToPeerAccess'} do
         assert.error_matches(function() cutorch[fn](1, 99) end, 'no device 99')
         assert.error_matches(function() cutorch[fn](0, 1) end, 'no device')
      end
      assert.is_true(cutorch.hasHalf)
   end)

   it('reject operands of two devices, and work afterwards #devices2', function()
      local a = torch.CudaTensor(3):fill(1)
      local b = cutorch.withDevice(2, function() return torch.CudaTensor(3):fill(2) end)
      assert.error_matches(function() a:add(b) end, 'add: got torch.CudaTensor on device %d with'
         .. ' torch.CudaTensor on device %d')
      assert.error_matches(function() a:add(torch.FloatTensor(3)) end, 'torch.FloatTensor')
      assert.equal(3, a:sum())
      b:copy(a):add(b)
      assert.equal(6, b:sum())
   end)
end)

describe('Queued work', function()
   after_each(function()
      cutorch.synchronizeAll()
      cutorch.setDevice(1)
      cutorch.setDefaultStream()
   end)

   it('runs device 1 and another stream while device 2 is busy #devices2', function()
      local beside = cutorch.getNumStreams() + 1 -- not reserved by any other spec
      cutorch.reserveStreams(beside, true)
      local one = torch.CudaTensor(1000):fill(1)
      cutorch.setDevice(2)
      local busy = torch.CudaTensor(1000):fill(1)
      local other = torch.CudaTensor(1000):fill(2)
      cutorch.synchronizeAll()
      asleep({2}, function(awake)
         busy:fill(1)
         for _ = 1, 5 do busy:add(1) end
         local queued = not awake()
         assert.equal(1000, one:sum()) -- device 1
         cutorch.setStream(beside)
         assert.equal(2000, other:sum()) -- another stream of device 2
         cutorch.setStream(0)
         local good = queued and not awake()
         assert.equal(6000, busy:sum())
         assert.is_true(awake()) -- reading the value waits for its stream
         return good
      end)
   end)

   it('is ordered by events, and random delays show where it is not', function()
      cutorch.reserveStreams(2, true)
      local C = dptffi.C
      -- stream 1 doubles x, stream 2 adds 1, twenty times: with the events (0 + 1) * 2 + 1 ...
      local function run20(events)
         local x = torch.CudaDoubleTensor(1):fill(0)
         cutorch.synchronize()
         for _ = 1, 20 do
            cutorch.setStream(2)
            if events then cutorch.streamWaitFor(2, {1}) end
            x:add(1)
            cutorch.setStream(1)
            if events then cutorch.streamWaitFor(1, {2}) end
            x:mul(2)
         end
         cutorch.synchronize()
         cutorch.setStream(0)
         return x[1]
      end
      finally(function() C.dpt_delay_set(0) end)
      C.dpt_delay_set(7)
      assert.equal(2 ^ 21 - 2, run20(true))
      local wrong = 0
      for _ = 1, 5 do
         if run20(false) ~= 2 ^ 21 - 2 then wrong = wrong + 1 end
      end
      assert.is_true(wrong > 0)
   end)

   it('that fails raises at the next wait, by its name, and what follows runs #devices2', function()
      local x = torch.CudaTensor(4):fill(1)
      local y = cutorch.withDevice(2, function() return torch.CudaTensor(4):fill(0) end)
      cutorch.synchronizeAll()
      dptffi.lib.fault_set('copy:1')
      y:copy(x) -- only enqueues: no error here
      assert.error_matches(function() cutorch.synchronizeAll() end, 'copy.*DPT_FAULT')
      cutorch.synchronizeAll() -- the error is raised once
      dptffi.lib.fault_set('copy:1')
      y:copy(x)
      assert.error_matches(function() return y[1] end, 'copy.*DPT_FAULT') -- reading waits
      cutorch.synchronizeAll()
      y:copy(x)
      assert.equal(4, y:sum())
   end)
end)

describe('Streams', function()
   after_each(function()
      cutorch.synchronizeAll()
      cutorch.setDevice(1)
      cutorch.setDefaultStream()
   end)

   it('are reserved, chosen for every device, and rejected if there is none #devices2', function()
      cutorch.reserveStreams(3)
      assert.is_true(cutorch.getNumStreams() >= 3)
      assert.equal(0, cutorch.getStream())
      cutorch.setStream(2)
      cutorch.setDevice(2)
      assert.equal(2, cutorch.getStream())
      cutorch.setDefaultStream()
      assert.equal(0, cutorch.getStream())
      assert.error_matches(function() cutorch.setStream(999) end, 'no stream 999')
      assert.error_matches(function() cutorch.setStream(-1) end, "'stream' is %-1")
      assert.error_matches(function() cutorch.streamWaitFor(1, 2) end, 'wanted a table of streams')
      assert.error_matches(function() cutorch.streamSynchronize(999) end, 'no stream 999')
      assert.error_matches(function() cutorch.reserveStreams(100000) end, 'reserveStreams')
   end)

   it('wait for each other: lists, barriers, several devices #devices2', function()
      cutorch.reserveStreams(3, true)
      local function sleepOn(device, stream)
         cutorch.setDevice(device)
         cutorch.setStream(stream)
         cutorch.streamSleep(30)
      end
      local waits = {
         function() cutorch.setDevice(2) cutorch.streamWaitFor(1, {3}) end,
         function() cutorch.streamWaitForMultiDevice(2, 1, {[1] = {2}, [2] = {3}}) end,
         function() cutorch.setDevice(2) cutorch.streamBarrier{1, 3} end,
         function() cutorch.streamBarrierMultiDevice{[1] = {2}, [2] = {1, 3}} end,
      }
      for i, wait in ipairs(waits) do
         local waited = time(function()
            sleepOn(2, 3)
            wait()
            cutorch.setDevice(2)
            cutorch.streamSynchronize(1)
         end)
         assert.is_true(waited >= 30, 'wait ' .. i .. ' took ' .. waited .. ' ms')
         cutorch.synchronizeAll()
      end
   end)
end)

describe('Memory', function()
   after_each(function() cutorch.setMemoryLimit(1, 0) end)

   it('is counted by device #devices2', function()
      local before = cutorch.memoryStats(2)
      local x = {cutorch.withDevice(2, function() return torch.CudaTensor(2 ^ 20) end)}
      local after = cutorch.memoryStats(2)
      assert.equal(before.live + 2 ^ 22, after.live)
      assert.is_true(after.peak >= after.live)
      local free, total = cutorch.getMemoryUsage(2)
      assert.is_true(free > 0 and free <= total - after.live) -- other processes may use the GPU
      assert.equal(2, x[1]:getDevice())
      x[1] = nil
      collectgarbage()
      collectgarbage()
      assert.is_true(cutorch.memoryStats(2).live <= before.live)
      cutorch.emptyCache()
      assert.is_true(cutorch.memoryStats(2).cached < 2 ^ 22)
      assert.is_true(cutorch.isCachingAllocatorEnabled())
   end)

   it('that is short is an error with the numbers; the same tensor works afterwards', function()
      collectgarbage()
      collectgarbage()
      cutorch.emptyCache()
      cutorch.setMemoryLimit(1, cutorch.memoryStats(1).live + 8 * 2 ^ 20)
      local x = torch.CudaTensor(10):fill(1)
      local line = debug.getinfo(1, 'l').currentline + 1
      local ok, why = pcall(function() x:resize(2 ^ 24) end)
      assert.is_false(ok)
      assert.truthy(why:find('init_spec.lua:' .. line, 1, true), why)
      assert.truthy(why:find 'out of memory on device 1: 67108864 bytes asked, %d+ live, %d+ cac')
      assert.equal(10, x:sum())
      cutorch.setMemoryLimit(1, 0)
      assert.equal(2 ^ 24, x:resize(2 ^ 24):fill(1):sum())
      assert.error_matches(function() cutorch.setMemoryLimit(1, -1) end, 'wanted 0')
      assert.error_matches(function() cutorch.setMemoryLimit(1) end, "'bytes' is of type nil")
   end)

   it('of tensors nobody refers to is collected before it is short', function()
      collectgarbage()
      collectgarbage()
      cutorch.emptyCache()
      cutorch.setMemoryLimit(1, cutorch.memoryStats(1).live + 64 * 2 ^ 20)
      for _ = 1, 100 do torch.CudaTensor(2 ^ 22):fill(1) end -- 16 MiB each
   end)

   it('is not used again before another stream has used it', function()
      local beside = cutorch.getNumStreams() + 1
      cutorch.reserveStreams(beside, true)
      finally(function() cutorch.setStream(0) end)
      local sum = torch.CudaTensor(2 ^ 16)
      cutorch.setStream(beside)
      asleep({1}, function(awake)
         cutorch.setStream(0)
         local kept = {torch.CudaTensor(2 ^ 16):fill(1)}
         sum:zero()
         cutorch.streamWaitFor(beside, {0})
         cutorch.setStream(beside)
         sum:add(kept[1])
         cutorch.setStream(0)
         kept[1] = nil
         collectgarbage()
         collectgarbage()
         -- if that memory were reused early, one of these would get it
         for i = 1, 20 do kept[i] = torch.CudaTensor(2 ^ 16):fill(2) end
         local early = not awake()
         cutorch.setStream(beside)
         assert.equal(2 ^ 16, sum:sum())
         return early
      end)
   end)

   it('can be page-locked', function()
      local x = cutorch.createCudaHostTensor(3, 4):fill(2)
      assert.equal('torch.FloatTensor', x:type())
      assert.equal('torch.HalfTensor', cutorch.createCudaHostHalfTensor(2):type())
      assert.equal('torch.DoubleTensor', cutorch.createCudaHostDoubleTensor(2, 2):type())
      assert.same({3, 4}, x:size():totable())
      local y = torch.CudaTensor(3, 4):copy(x)
      assert.equal(24, y:sum())
      assert.same({5}, cutorch.createCudaHostTensor(torch.LongStorage{5}):size():totable())
      assert.same({5, 2}, cutorch.createCudaHostTensor{5, 2}:size():totable())
   end)
end)

describe('Seeds', function()
   after_each(function() cutorch.setDevice(1) end)

   it('reproduce the same numbers on every device #devices2', function()
      cutorch.manualSeedAll(17)
      local draws = {}
      for device = 1, 2 do
         draws[device] = cutorch.withDevice(device, function()
            return torch.CudaTensor(100):uniform():float()
         end)
      end
      assert.equal(0, (draws[1] - draws[2]):abs():max())
      cutorch.manualSeed(17, 2)
      local again = cutorch.withDevice(2, function() return torch.CudaTensor(100):uniform() end)
      assert.equal(0, (draws[2] - again:float()):abs():max())
      assert.equal(17, cutorch.initialSeed(2))
   end)

   it('are drawn at random by seed and seedAll #devices2', function()
      local a, b = cutorch.seed(), cutorch.seed()
      assert.not_equal(a, b)
      assert.equal(b, cutorch.initialSeed())
      cutorch.manualSeed(b)
      assert.equal(b, cutorch.initialSeed())
      cutorch.seedAll()
      assert.not_equal(cutorch.initialSeed(1), cutorch.initialSeed(2))
      assert.error_matches(function() cutorch.manualSeed('x') end, "'seed' is of type string")
      assert.error_matches(function() cutorch.manualSeed(1, 99) end, 'no device 99')
   end)

   it('travel as a state', function()
      cutorch.manualSeed(3)
      torch.CudaTensor(10):uniform()
      local state = cutorch.getRNGState()
      assert.equal('torch.ByteTensor', state:type())
      local a = torch.CudaTensor(10):uniform():float()
      cutorch.setRNGState(state)
      local b = torch.CudaTensor(10):uniform():float()
      assert.equal(0, (a - b):abs():max())
      assert.error_matches(function() cutorch.setRNGState(3) end, "'state' is of type number")
   end)
end)

-- Each of these needs its own process, because devices can be set only once.
describe('What users of PyTorch found:', function()
   it('J2: setting the devices after their first use is an error', function()
      local out = run.lua [[
         local dpt = require 'dpt'
         dpt.setDevices 'host:3'
         print(cutorch.getDeviceCount())
         local ok, why = pcall(dpt.setDevices, 'host:4')
         print(ok, why:match 'before the first use of a device')
         print(cutorch.getDeviceCount())
      ]]
      assert.equal('3\nfalse\tbefore the first use of a device\n3\n', out)
   end)

   it('J2: a bad value is a clear message, at the first use', function()
      local out = run.lua([[
         require 'dpt'
         print(pcall(cutorch.getDeviceCount))
         print(pcall(torch.CudaTensor, 3))
         print(torch.FloatTensor(2):fill(1):sum())
      ]], {DPT_DEVICES = 'hots:2'})
      local _, count = out:gsub("DPT_DEVICES: got 'hots:2', wanted host:N", '')
      assert.equal(2, count, out)
      assert.truthy(out:find '\n2\n$', out)
   end)

   it('J2: none takes cutorch away, so that scripts see that there is no device', function()
      local code = "require 'dpt' print(cutorch, cudnn, pcall(require, 'cutorch') == false)"
      assert.equal('nil\tnil\ttrue\n', run.lua(code, {DPT_DEVICES = 'none'}))
   end)

   it('J2: what needs a device says that there is none, and what to do', function()
      local folder = os.tmpname()
      os.remove(folder)
      paths.mkdir(folder)
      run.lua(([[
         require 'dpt'
         local net = nn.Sequential():add(nn.Linear(2, 2)):cuda()
         torch.save('%s/net.t7', net)
         torch.save('%s/table.t7', nn.DataParallelTable(1):add(net, {1}))]]):format(folder, folder),
         {DPT_DEVICES = 'host:2'})
      local out = run.lua(([[
         local dpt = require 'dpt'
         for i, f in ipairs{function() torch.load('%s/net.t7') end,
            function() torch.load('%s/table.t7') end,
            function() nn.Linear(2, 2):cuda() end,
            function() torch.CudaTensor(2) end,
            function() torch.setdefaulttensortype('torch.CudaTensor') torch.ones(2) end,
            function() nn.DataParallelTable(1) end,
            function() nn.DataParallelCriterion(nn.MSECriterion()) end,
            function() dpt.cutorch.setDevice(1) end,
            function() require 'cutorch' end,
            function() require 'cunn' end,
            function() require 'cudnn' end} do
            local ok, why = pcall(f)
            if ok or not why:find('there is no device (DPT_DEVICES=none): unset DPT_DEVICES, or '
               .. 'set it to devices as in host:2 (CPU threads) or cuda', 1, true) then
               print(i, why)
            end
         end]]):format(folder, folder), {DPT_DEVICES = 'none'})
      os.execute('rm -r ' .. folder)
      assert.equal('', out)
   end)

   it('J3: 64 devices work on however few cores, and idle they use none', function()
      local out = run.lua([[
         require 'dpt'
         local sum = 0
         local x = {}
         for i = 1, 64 do
            cutorch.setDevice(i)
            x[i] = torch.CudaTensor(1000):fill(i)
            if i > 1 then x[i]:add(torch.CudaTensor(1000):copy(x[i - 1])) end
         end
         for i = 1, 64 do sum = sum + x[i]:sum() end
         print(sum)
         cutorch.synchronizeAll()
         -- a library may still be loaded in the background; devices that spin do so at any time
         local least = math.huge
         for _ = 1, 20 do
            local before = os.clock()
            require('dpt.ffi').C.dpt_sleep(0.2)
            least = math.min(least, os.clock() - before)
            if least < 0.002 then break end
         end
         print(least < 0.002)
      ]], {DPT_DEVICES = 'host:64'})
      local sum, last = 0, 0
      for i = 1, 64 do
         last = last + i
         sum = sum + last * 1000
      end
      assert.equal(('%d\ntrue\n'):format(sum), out)
   end)

   it('I5: nothing of CUDA is loaded if there is none', function()
      local out = run.lua([[
         require 'dpt'
         torch.CudaTensor(3):fill(1):sum()
         for line in io.lines '/proc/self/maps' do
            if line:find 'libcu%l+%.so' or line:find 'libnccl' then print(line) end
         end
         print 'done'
      ]], {DPT_DEVICES = 'host:2'})
      assert.equal('done\n', out)
   end)

   it('missing GPUs are reported and replaced by host devices', function()
      local out = run.lua("print(require('dpt').devices())", {DPT_DEVICES = 'cuda:0,2,3'})
      -- there is no plugin, no driver or no such GPU
      assert.matches('3 host devices.*; GPUs were asked for, but %S+', out)
   end)
end)

describe('A child of fork', function()
   it('has host tensors, and raises for devices', function()
      local out = run.lua [[
         require 'dpt'
         local ffi = require 'ffi'
         ffi.cdef 'int fork(void); int waitpid(int, int *, int); void _exit(int);'
         local x = torch.FloatTensor(1000, 1000):fill(1):add(1) -- by all cores
         torch.CudaTensor(3):fill(1):sum()
         io.stdout:setvbuf 'no'
         if ffi.C.fork() == 0 then
            print(x:add(1):sum(), (x * x):sum())
            local ok, why = pcall(torch.CudaTensor, 3)
            print(ok, why:match 'devices do not survive fork')
            collectgarbage()
            ffi.C._exit(0)
         end
         ffi.C.waitpid(-1, nil, 0)
         print(torch.CudaTensor(3):fill(1):sum())
      ]]
      assert.equal('3000000\t9000000000\nfalse\tdevices do not survive fork\n3\n', out)
   end)
end)

describe('Ctrl-C #noasan', function()
   local places = {
      ['compiled Lua'] = 'while true do end',
      ['a wait'] = 'cutorch.streamSleep(200000) cutorch.synchronize()',
      ['a kernel'] = 'local x = torch.FloatTensor(700, 700):fill(0) while true do x = x * x end',
   }
   for name, code in pairs(places) do
      it('ends the process within a second in ' .. name, function()
         local status, inTime, text = run.interrupted("require 'dpt' print 'ready' " .. code)
         -- exits like a process killed by SIGINT, or with LuaJIT's error between two operations
         assert.is_true(status == 130 or status == 1 and text:find('interrupted!', 1, true) ~= nil)
         assert.is_true(inTime)
      end)
   end

   it('is left to a script that has a handler of its own', function()
      local out = run.lua [[
         local ffi = require 'ffi'
         ffi.cdef 'typedef void (*handler)(int); handler signal(int, handler); int raise(int);'
         ffi.C.signal(2, ffi.cast('handler', ffi.C.raise)) -- any function of a library
         require 'dpt'
         print(ffi.C.signal(2, nil) == ffi.cast('handler', ffi.C.raise))
      ]]
      assert.equal('true\n', out)
   end)
end)
