-- Rows A15 to A22: problems reported by users of nn.DataParallelTable (docs/user-issues.md); other
-- rows are in spec/nn/DataParallelTable_*_spec.lua.
local dpt = require 'dpt'
local torch, nn, cutorch, comm = dpt.torch, dpt.nn, dpt.cutorch, dpt.comm
local ffi = require('dpt.ffi').ffi
local asleep = require 'spec.support.asleep'
local queued = require 'spec.support.queued'
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'

describe('users of DataParallelTable', function()
   local most = same.most(8)
   same.seeded(4)

   local function network()
      return nn.Sequential():add(nn.Linear(20, 30)):add(nn.Tanh()):add(nn.Linear(30, 4)):cuda()
   end

   local function wrap(net) return nn.DataParallelTable(1, true):add(net, same.range(most)) end

   it('A15: a transport can be set; an absent one is reported, or raises #devices2', function()
      assert.error_matches(function()
         comm.setTransport('carrier pigeon', true)
      end, 'carrier pigeon')
      local out = run.lua([[
         local comm = require('dpt').comm
         assert(comm.transport() == 'copy' and not pcall(comm.setTransport, 'nccl', true))
         for _ = 1, 3 do
            local many = nn.DataParallelTable(1, true, true):add(nn.Linear(2, 2):cuda(), {1, 2})
            many:forward(torch.CudaTensor(3, 2):zero())
         end
         print(comm.transport())
      ]], {DPT_DEVICES = 'host:2'})
      local _, reported = out:gsub('dpt: NCCL', '')
      assert.equal(1, reported, out)
      assert.truthy(out:find '\ncopy\n$', out)
   end)

   it('A16: what a step adds to the network\'s own work does not grow with the network', function()
      local function added(layers)
         local one = nn.Sequential()
         for _ = 1, layers do one:add(nn.Linear(6, 6)):add(nn.Tanh()) end
         one = one:cuda()
         local many = wrap(one:clone())
         many.overlap = false
         local input = torch.randn(2 * most, 6):cuda()
         local function step(net)
            local items = queued(function()
               net:zeroGradParameters()
               net:forward(input)
               net:backward(input, input)
               net:updateParameters(0.1)
            end)
            local sum = 0
            for i = 1, most do sum = sum + items[i] end
            return sum
         end
         many:getParameters()
         one:getParameters()
         step(many)
         step(one)
         -- each replica queues what the single network does, except for zeroing and the update
         local replicas = step(many)
         local alone = queued(function()
            one:forward(input)
            one:backward(input, input)
         end)[1]
         return replicas - most * alone
      end
      local few = added(1)
      assert.is_true(few <= 20 * most, few .. ' items are added')
      assert.is_true(added(20) - few <= 2 * 19, 'more than the update of each parameter')
   end)

   describe('A17:', function()
      it('the last device begins as soon as the first one', function()
         local starts, least = {}, math.huge
         local classes = {}
         local Probe, parent = torch.class('dptspec.Start', 'nn.Module', classes)
         function Probe.__init(self) parent.__init(self) end
         function Probe.updateOutput(self, input)
            starts[input:getDevice()] = ffi.C.dpt_clock()
            self.output = input
            return input
         end
         local many = wrap(nn.Sequential():add(classes.Start()):add(network()))
         local input = torch.randn(most, 20):cuda()
         for _ = 1, 200 do -- other processes may be using this machine
            many:forward(input)
            local skew = starts[most] - starts[1]
            cutorch.synchronizeAll()
            assert.is_true(skew >= 0)
            least = math.min(least, skew)
            if least < most * 1e-3 then return end
         end
         error(least * 1e6 .. ' us')
      end)

      it('without gradInput its bytes are saved', function()
         local function live(given)
            local many = wrap(nn.Linear(1000, 3):cuda())
            if not given then many.gradInput = nil end
            local input = torch.CudaTensor(100 * most, 1000):fill(1)
            many:backward(input, many:forward(input))
            collectgarbage()
            collectgarbage()
            return cutorch.memoryStats(1).live
         end
         local saved = live(true) - live(false)
         assert.is_true(saved >= 100 * most * 1000 * 4, saved .. ' bytes are saved')
      end)

      it('the input may be on the host, also in page-locked memory', function()
         local many = wrap(network())
         local input = torch.randn(2 * most + 1, 20):float()
         local output = many:forward(input:cuda()):clone()
         local locked = cutorch.createCudaHostTensor(2 * most + 1, 20):copy(input)
         for _, host in ipairs{input, locked} do
            same.bits(output, many:forward(host))
            many:backward(host, output)
         end
      end)
   end)

   it('A18: a step waits for no device; reading the loss waits once', function()
      local many, criterion = wrap(network()), nn.MSECriterion():cuda()
      local input, target = torch.randn(2 * most, 20):cuda(), torch.randn(2 * most, 4):cuda()
      local flat, gradient = many:getParameters()
      local function forward()
         many:zeroGradParameters()
         return many:forward(input)
      end
      local function rest(output)
         many:backward(input, criterion:backward(output, target))
         flat:add(-0.1, gradient)
         many:syncParameters()
      end
      for _ = 1, 3 do rest(forward()) criterion:forward(many.output, target) end
      cutorch.synchronizeAll()
      asleep(same.range(most), function(awake)
         for _ = 1, 3 do rest(forward()) end
         local good = not awake()
         criterion:forward(forward(), target)
         assert.is_true(awake()) -- reading a number waits
         return good
      end)
   end)

   describe('A19: a limit of the system #noasan', function()
      local begin = [[
         local ffi = require 'ffi'
         ffi.cdef 'typedef struct { uint64_t now, most; } limit; int getuid(void);'
         ffi.cdef 'int setuid(int); int setrlimit(int, const limit *);'
         local dpt = require 'dpt'
         local function limit(what, value)
            assert(ffi.C.setrlimit(what, ffi.new('limit', value, value)) == 0)
         end
         local function virtual()
            for line in io.lines '/proc/self/status' do
               local kB = line:match 'VmSize:%s*(%d+)'
               if kB then return kB * 1024 end
            end
         end
         local NPROC, MEMLOCK, AS = 6, 8, 9
      ]]
      local function bounded(code, environment) return run.lua(begin .. code, environment) end
      local train = [[
         print(pcall(function()
            local many = nn.DataParallelTable(1, true):add(nn.Linear(4, 3):cuda(),
               torch.range(1, cutorch.getDeviceCount()):totable())
            many:forward(torch.CudaTensor(100, 4):fill(1)):sum()
         end))
      ]]

      it('of threads is named', function()
         local out = bounded('if ffi.C.getuid() == 0 then ffi.C.setuid(65534) end limit(NPROC, 3)'
            .. train, {DPT_DEVICES = 'host:8', OMP_NUM_THREADS = 1})
         assert.matches('^false.*thread can not start.*RLIMIT_NPROC %(ulimit %-u%) is 3', out)
      end)

      it('of address space is named where a thread cannot start', function()
         local out = bounded([[
            limit(AS, virtual() + 200 * 2 ^ 20)
            print(pcall(function()
               for i = 1, 64 do
                  cutorch.setDevice(i)
                  cutorch.streamSleep(0)
               end
            end))
         ]], {DPT_DEVICES = 'host:64'})
         assert.matches('^false.*RLIMIT_AS %(ulimit %-v%) is %d+ kB', out)
      end)

      it('of address space is named where memory is short', function()
         local out = bounded([[
            torch.CudaTensor(3):fill(1):sum()
            limit(AS, virtual() + 100 * 2 ^ 20)
            print(pcall(torch.CudaTensor, 2 ^ 28))
            print(torch.CudaTensor(3):fill(1):sum())
         ]], {DPT_DEVICES = 'host:2'})
         assert.matches('^false.*out of memory on device 1.*RLIMIT_AS %(ulimit %-v%) is %d+', out)
         assert.matches('\n3\n$', out)
      end)

      it('of locked memory does not matter', function()
         local out = bounded('limit(MEMLOCK, 0)'
            .. ' print(cutorch.createCudaHostTensor(2 ^ 20):fill(1):sum())')
         assert.equal('1048576\n', out)
      end)
   end)
end)
