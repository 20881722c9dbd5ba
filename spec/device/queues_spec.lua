-- Devices with native queues: errors that kernels find, errors of CUDA, devices without peer access
-- or not in use. The CUDA kernels run on the CPU (DPT_DEVICES=emulated:N), in separate processes,
-- since some of this works only once per process.
local run = require 'spec.support.run'
local standIn = require 'spec.support.stand_in'

local start = [[
   local dpt = require 'dpt'
   local ffi = require('dpt.ffi').ffi
   cutorch.setDevice(1)
   ffi.cdef [=[
      void emulated_break(int);
      void emulated_separate(int);
      void emulated_fail_next(const char *, int);
      long long emulated_streams(void);
   ]=]
   local maps = io.open('/proc/self/maps'):read '*a'
   local emulated = ffi.load(maps:match('/[^ \n]*libdpt_emulated%.so'))
   local x = torch.CudaIntTensor(4):fill(7)
   local zeros = torch.CudaIntTensor(4):zero()
   local function divide() x:cdiv(zeros) end
   local function message(f, ...)
      local ok, text = pcall(f, ...)
      print(ok and 'nothing' or (tostring(text):gsub('^[^ ]*: ', '')))
   end
   cutorch.synchronizeAll()
]]

local function emulated(code, environment)
   environment = environment or {}
   environment.DPT_DEVICES = environment.DPT_DEVICES or 'emulated:2'
   return run.lua(start .. code, environment)
end

describe('An error found by a kernel #hostonly', function()
   it('is raised by the next wait on its stream, once, as on host devices', function()
      local code = [[
         divide()
         message(cutorch.synchronize)
         message(cutorch.synchronize)
         cutorch.setStream(0)
         divide()
         message(function() return x[1] end)
      ]]
      local text = emulated(code)
      assert.equal(2, select(2, text:gsub('a divisor is 0[^\n]*%(queued on stream 0 of device 1%)',
         '')), text)
      assert.equal(1, select(2, text:gsub('nothing', '')), text)
   end)

   it('is raised by a wait on a stream that waited for it, and then by no other', function()
      local text = emulated [[
         cutorch.reserveStreams(3, true)
         divide()
         cutorch.streamWaitFor(1, {0})
         cutorch.streamWaitFor(2, {1})
         message(cutorch.streamSynchronize, 3)
         message(cutorch.streamSynchronize, 2)
         message(cutorch.synchronizeAll)
      ]]
      assert.matches('^nothing\n[^\n]*a divisor is 0[^\n]*of device 1%)\nnothing\n$', text)
   end)

   it('is raised also if the event was known to be over before it was waited for', function()
      local text = emulated [[
         cutorch.reserveStreams(1, true)
         divide()
         local lib, event, done = require('dpt.ffi').lib, ffi.new 'dpt_event', ffi.new 'int[1]'
         lib.event_record(event, 1, 0)
         repeat lib.event_query(event, done) until done[0] == 1
         lib.stream_wait_event(1, 1, event)
         message(cutorch.streamSynchronize, 1)
         message(cutorch.synchronizeAll)
      ]]
      assert.matches('^[^\n]*a divisor is 0[^\n]*\nnothing\n$', text)
   end)

   it('is raised across devices', function()
      local text = emulated [[
         divide()
         local y = cutorch.withDevice(2, function() return torch.CudaIntTensor(4) end)
         y:copy(x)
         cutorch.setDevice(2)
         message(cutorch.synchronize)
         message(cutorch.synchronizeAll)
      ]]
      assert.matches('^[^\n]*a divisor is 0[^\n]*of device 1%)\nnothing\n$', text)
   end)
end)

describe('An error of CUDA #hostonly', function()
   it('that persists is reported as such, with the call and how to find the kernel', function()
      local text = emulated [[
         emulated.emulated_break(700)
         x:add(1)
         message(cutorch.synchronize)
         message(function() return x[1] end)
      ]]
      local first, second = text:match '^([^\n]*)\n([^\n]*)\n$'
      for _, line in ipairs{first, second} do
         assert.matches('cudaErrorIllegalAddress', line)
         assert.matches('no more work in this process: DPT_CHECK_LAUNCHES=1', line)
      end
      assert.matches('launch of [%w_]+', text)
   end)

   it('that lasts is raised by a query of an event', function()
      local text = emulated [[
         local lib, event, done = require('dpt.ffi').lib, ffi.new 'dpt_event', ffi.new 'int[1]'
         emulated.emulated_break(700)
         x:add(1)
         lib.event_record(event, 1, 0)
         for _ = 1, 2 do
            message(function()
               local timer = torch.Timer()
               repeat lib.event_query(event, done) until done[0] == 1 or timer:time().real > 5
            end)
         end
      ]]
      local each = 'event query: [^\n]*cudaErrorIllegalAddress[^\n]*\n'
      assert.matches('^' .. each .. each .. '$', text)
   end)

   it('that persists is not reported as a lack of memory', function()
      local text = emulated [[
         emulated.emulated_break(700)
         message(torch.CudaTensor, 1e6)
         message(cutorch.createCudaHostTensor, 1e6)
      ]]
      local of = ' bytes on %s: cudaMemGetInfo: cudaErrorIllegalAddress[^\n]*\n'
      assert.matches('^[^\n]*4000256' .. of:format 'device 1' .. '[^\n]*4000256' ..
         of:format 'page%-locked host memory' .. '$', text)
   end)

   it('that is transient is raised once and leaves no state', function()
      local text = emulated([[
         local function fails(call, f)
            emulated.emulated_fail_next(call, 2)
            message(f)
            message(f)
         end
         local before = tonumber(emulated.emulated_streams())
         local function start() return torch.CudaTensor(2):fill(1) end
         cutorch.setDevice(2)
         fails('cudaHostAlloc', start)
         cutorch.setDevice(3)
         fails('cudaStreamCreateWithPriority', start)
         print(tonumber(emulated.emulated_streams()) - before)
         fails('cudaEventCreateWithFlags', function()
            start()
            cutorch.streamSynchronize(0)
         end)
         cutorch.setDevice(1)
         fails('cudaStreamBeginCapture', function()
            local replay = cutorch.graph(function()
               io.write 'called '
               x:mul(2)
            end)
            replay()
         end)
         print(x:sum())
      ]], {DPT_DEVICES = 'emulated:3'})
      local of = ': cudaErrorMemoryAllocation [^\n]*\n'
      assert.matches('^[^\n]*cudaHostAlloc' .. of ..
         'nothing\n[^\n]*cudaStreamCreateWithPriority' .. of ..
         'nothing\n2\n[^\n]*cudaEventCreateWithFlags' .. of ..
         'nothing\ncutorch.graph: cudaStreamBeginCapture' .. of .. 'called nothing\n56\n$', text)
   end)

   it('that a library left pending is not attributed to the next kernel', function()
      local text = emulated [[
         local a = torch.CudaTensor(3, 3):fill(1)
         local b = torch.mm(a, a):add(1)
         message(cutorch.synchronize)
         print(b:sum())
      ]]
      assert.equal('nothing\n36\n', text)
   end)

   it('names the kernel if launches are checked', function()
      local text = emulated([[
         divide()
         message(cutorch.synchronize)
         emulated.emulated_break(700)
         x:add(1)
         message(cutorch.synchronize)
      ]], {DPT_CHECK_LAUNCHES = '1'})
      assert.matches('^[^\n]*a divisor is 0[^\n]*\n[^\n]*launch of %w+', text)
      assert.matches('in this process [^\n]*\n$', text)
   end)
end)

describe('Devices that do not reach each other #hostonly', function()
   it('say so, and copies between them work', function()
      local text = emulated([[
         emulated.emulated_separate(2) -- the third device on
         local list = {}
         for i = 1, 4 do
            list[i] = cutorch.withDevice(i, function() return torch.CudaTensor{i, i} end)
         end
         print(cutorch.getPeerToPeerAccess(1, 2), cutorch.getPeerToPeerAccess(1, 3),
            cutorch.getPeerToPeerAccess(4, 3))
         message(cutorch.setPeerToPeerAccess, 1, 3, true)
         for i = 1, 4 do
            for j = 1, 4 do
               list[j]:copy(list[i]:mul(10))
               io.write(list[j]:sum(), ' ')
            end
         end
      ]], {DPT_DEVICES = 'emulated:4'})
      assert.matches('^true\tfalse\tfalse\n[^\n]*device 1 has no way to the memory of device 3\n',
         text)
      local sums = {}
      local value, want = {1, 2, 3, 4}, {}
      for i = 1, 4 do
         for j = 1, 4 do
            value[i] = value[i] * 10
            value[j] = value[i]
            want[#want + 1] = value[j] * 2
         end
      end
      for number in text:match('\n([^\n]*)$'):gmatch('%S+') do
         sums[#sums + 1] = tonumber(number)
      end
      for i, number in ipairs(want) do assert.is_true(math.abs(sums[i] / number - 1) < 1e-6) end
   end)

   it('have no kernel that reads both', function()
      local text = emulated([[
         emulated.emulated_separate(2) -- the third device on
         cutorch.setKernelPeerToPeerAccess(true)
         local list = {}
         for i = 1, 3 do
            list[i] = cutorch.withDevice(i, function() return torch.CudaTensor{i, i} end)
         end
         local function add(i, j) list[i]:add(list[j]) end
         emulated.emulated_fail_next('cudaDeviceEnablePeerAccess', 101)
         message(add, 1, 2) -- asks for access first
         message(add, 1, 2)
         message(add, 1, 3)
         message(add, 3, 2)
         cutorch.setPeerToPeerAccess(1, 2, false)
         message(add, 1, 2)
         message(add, 2, 1)
         cutorch.setPeerToPeerAccess(1, 2, true)
         message(add, 1, 2)
         print(list[1]:sum(), list[2]:sum(), list[3]:sum())
      ]], {DPT_DEVICES = 'emulated:3'})
      local function without(i, j)
         return ('add: got torch.CudaTensor on device %d with torch.CudaTensor on device %d, ' ..
            'whose memory device %d does not reach: copy one of them first\n'):format(i, j, i)
      end
      assert.equal('add: cudaDeviceEnablePeerAccess: cudaErrorInvalidDevice ' ..
         '(cudaErrorInvalidDevice)\nnothing\n' .. without(1, 3) .. without(3, 2) .. without(1, 2) ..
         'nothing\nnothing\n16\t10\t6\n', text)
   end)

   it('can be requested and rejected repeatedly', function()
      local text = emulated [[
         local a = torch.CudaTensor{1, 2}
         local b = cutorch.withDevice(2, function() return torch.CudaTensor(2) end)
         for _, on in ipairs{true, true, false, false, true, false} do
            cutorch.setPeerToPeerAccess(2, 1, on)
            b:fill(0):copy(a)
            io.write(b:sum(), cutorch.getPeerToPeerAccess(2, 1) and '+' or '-')
         end
      ]]
      assert.equal('3+3+3-3-3+3-', text)
   end)
end)

describe('A device that is not in use #hostonly', function()
   -- The process uses devices other than the machine's first one, from all kinds of threads.
   local code = [[
      require 'dpt'
      local ffi = require('dpt.ffi').ffi
      ffi.cdef 'int emulated_has_context(int);'
      cutorch.setDevice(2)
      local input = cutorch.createCudaHostTensor(8, 4):fill(1)
      local moved = torch.CudaTensor(8, 4)
      moved:copyAsync(input)
      local net = nn.Sequential():add(nn.Linear(4, 4)):add(nn.Tanh()):add(nn.Linear(4, 2)):cuda()
      local both = nn.DataParallelTable(1):add(net, {2, 1}):threads(function() require 'dpt' end)
      local criterion = nn.MSECriterion():cuda()
      local target = torch.CudaTensor(8, 2):zero()
      local x, dx = both:getParameters()
      local profiler = require 'dpt.profiler'
      profiler.start()
      for _ = 1, 3 do
         dx:zero()
         criterion:forward(both:forward(moved), target)
         both:backward(moved, criterion:backward(both.output, target))
         x:add(-0.1, dx)
      end
      profiler.stop()
      local replay = cutorch.graph(function() moved:mul(2) end)
      replay()
      local total = 0
      local workers = require('threads').Threads(2, function() require 'dpt' end)
      for device = 1, 2 do
         workers:addjob(function()
            cutorch.setDevice(device)
            local pinned = cutorch.createCudaHostTensor(4)
            return torch.CudaTensor(4):fill(device):sum() + pinned:nElement()
         end, function(sum) total = total + sum end)
      end
      workers:synchronize()
      workers:terminate()
      input, replay = nil, nil
      collectgarbage()
      cutorch.emptyCache()
      cutorch.synchronizeAll()
      local maps = io.open('/proc/self/maps'):read '*a'
      local emulated = ffi.load(maps:match('/[^ \n]*libdpt_emulated%.so'))
      local function has(device) return emulated.emulated_has_context(device) end
      print(total, x:sum() == x:sum(), has(0), has(1))
   ]]

   it('gets no context', function()
      for devices, nccl in pairs{['1,1'] = '', ['1,2'] = standIn.library} do
         local text = run.lua(code, {DPT_DEVICES = 'emulated:' .. devices, DPT_NCCL = nccl})
         assert.matches('^20\ttrue\t0\t1\n$', text)
      end
   end)
end)

describe('DPT_CACHE=off #hostonly', function()
   local code = [[
      require 'dpt'
      print(cutorch.isCachingAllocatorEnabled())
      cutorch.reserveStreams(2, true)
      local x = torch.CudaTensor(1000):fill(1)
      cutorch.streamBarrier{0, 1, 2}
      for i = 1, 50 do
         cutorch.setStream(i % 3)
         local y = x:clone()
         y:add(i)
         cutorch.streamBarrier{0, 1, 2}
         x = y
         collectgarbage()
      end
      cutorch.setStream(0)
      print(x:sum())
      x = nil
      collectgarbage()
      collectgarbage()
      cutorch.synchronize()
      local last = torch.CudaTensor(1)
      local stats = cutorch.memoryStats(1)
      print(stats.cached, stats.live, stats.segments >= 50)
   ]]

   it('frees each block after its streams have used it', function()
      for _, devices in ipairs{'host:2', 'emulated:2'} do
         local text = run.lua(code, {DPT_CACHE = 'off', DPT_DEVICES = devices})
         assert.equal('false\n1276000\n0\t4\ttrue\n', text, devices)
      end
   end)

   it('is on or off', function()
      assert.matches("DPT_CACHE: got 'no', wanted on or off",
         run.lua('require "dpt" print(pcall(cutorch.getDevice))', {DPT_CACHE = 'no'}))
   end)
end)

describe('A steady training step #hostonly', function()
   it('allocates no memory and does not wait', function()
      local code = [[
         require 'dpt'
         local C, ffi = require('dpt.ffi').C, require('dpt.ffi').ffi
         torch.manualSeed(1)
         local net = nn.Sequential():add(nn.SpatialConvolution(3, 8, 3, 3)):add(nn.ReLU())
            :add(nn.SpatialBatchNormalization(8)):add(nn.SpatialMaxPooling(2, 2)):add(nn.View(-1))
            :add(nn.Linear(8 * 9, 10)):add(nn.Dropout(0.5)):add(nn.LogSoftMax()):cuda()
         net:get(5):setNumInputDims(3)
         local criterion = nn.ClassNLLCriterion():cuda()
         local input, target = torch.randn(4, 3, 8, 8):cuda(), torch.CudaLongTensor{1, 2, 3, 4}
         local x, dx = net:getParameters()
         local config, loss = {learningRate = 0.1, momentum = 0.9}, nil
         local function step()
            optim.sgd(function()
               dx:zero()
               local output = net:forward(input)
               loss = criterion:updateLoss(output, target)
               net:backward(input, criterion:backward(output, target))
               return 0, dx
            end, x, config)
         end
         for _ = 1, 5 do step() end
         cutorch.synchronize()
         collectgarbage()
         local function raw() return 0 end
         if cutorch.getDeviceProperties(1).name:find 'emulated' then
            ffi.cdef 'long long emulated_allocations(void);'
            local maps = io.open('/proc/self/maps'):read '*a'
            local library = ffi.load(maps:match('/[^ \n]*libdpt_emulated%.so'))
            raw = function() return tonumber(library.emulated_allocations()) end
         end
         local waits, taken = C.dpt_waits(), raw()
         local before = cutorch.memoryStats(1)
         for _ = 1, 10 do step() end
         local after = cutorch.memoryStats(1)
         print(tonumber(C.dpt_waits() - waits), after.blocks - before.blocks,
            after.segments - before.segments)
         cutorch.synchronize()
         print(raw() - taken, loss[1] == loss[1])
      ]]
      for _, devices in ipairs{'host:2', 'emulated:2'} do
         assert.equal('0\t0\t0\n0\ttrue\n', run.lua(code, {DPT_DEVICES = devices}), devices)
      end
   end)
end)
