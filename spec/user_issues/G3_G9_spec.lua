-- Rows G3 to G9: problems reported by users of PyTorch's DataParallel (docs/user-issues.md).
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local comm = dpt.comm
local ffi = require('dpt.ffi').ffi
local queued = require 'spec.support.queued'
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'

-- A module that records the arguments of its calls.
local classes = {}
local Probe, parentProbe = torch.class('dptspec.Calls', 'nn.Module', classes)
function Probe:__init(calls)
   parentProbe.__init(self)
   self.calls = calls
end
function Probe:updateOutput(input)
   local x = torch.isTensor(input) and input or input.x
   table.insert(self.calls, {device = cutorch.getDevice(), rows = x:size(1), input = input,
      module = self})
   self.output:resizeAs(x):copy(x)
   return self.output
end

-- A module that keeps a device busy for a while without using a core.
local Sleep, parentSleep = torch.class('dptspec.Sleep', 'nn.Module', classes)
function Sleep:__init(milliseconds)
   parentSleep.__init(self)
   self.milliseconds = milliseconds
end
function Sleep:updateOutput(input)
   cutorch.streamSleep(self.milliseconds)
   self.output:resizeAs(input):copy(input)
   return self.output
end

describe('users of DataParallel', function()
   local most = same.most(8)
   same.seeded(4)

   local function wrap(net, n) return nn.DataParallelTable(1, true):add(net, same.range(n)) end

   describe('G3: the cost of a sync and of a reduction', function()
      -- Returns the work that a sync and a reduction queue on all devices, for as many tensors with
      -- the same total bytes.
      local function queuedFor(tensors)
         local net = nn.Sequential()
         for _ = 1, tensors / 2 do net:add(nn.Linear(1, 1200 / tensors)) end
         local many = wrap(net:cuda(), most)
         local flat = many:getParameters()
         local n = flat:nElement()
         many:syncParameters()
         flat:add(1)
         local bytes = same.copied()
         local sync = queued(function() many:syncParameters() end)
         bytes = same.copied() - bytes
         assert.equal((most - 1) * n * 4, bytes)
         many.params:reduce()
         local reduce = queued(function() many.params:reduce() end)
         return sync, reduce
      end

      it('does not depend on the number of tensors', function()
         local sync, reduce = queuedFor(2)
         local syncMany, reduceMany = queuedFor(600)
         assert.same(sync, syncMany)
         assert.same(reduce, reduceMany)
      end)

      it('does not depend on it where many tensors are coalesced', function()
         local function copies(count)
            local list = {}
            for i = 1, count do list[i] = torch.CudaTensor(300000 / count):fill(1) end
            comm.broadcastCoalesced(list, same.range(most))
            return queued(function() comm.broadcastCoalesced(list, same.range(most)) end)
         end
         local one, many = copies(1), copies(300)
         for i = 2, most do assert.is_true(many[i] <= one[i] + 1, 'more than one gathering') end
      end)

      it('is paid once: replicas stay', function()
         local many = wrap(nn.Linear(3, 3):cuda(), most)
         local input = torch.randn(2 * most, 3):cuda()
         many:forward(input)
         local replicas = {}
         for i = 1, most do replicas[i] = many:get(i) end
         for _ = 1, 3 do
            many:updateParameters(0.1)
            many:forward(input)
         end
         for i = 1, most do assert.equal(replicas[i], many:get(i)) end
      end)
   end)

   it('G4: replicas work at once', function()
      local function seconds(n, milliseconds)
         local net = nn.Sequential()
         for _ = 1, 10 do net:add(nn.Linear(4, 4)):add(classes.Sleep(milliseconds)) end
         local many = wrap(net:cuda(), n)
         local input = torch.randn(4 * n, 4):cuda()
         many:forward(input)
         cutorch.synchronizeAll()
         local timer = torch.Timer()
         many:forward(input)
         cutorch.synchronizeAll()
         return timer:time().real
      end
      local one, four
      for k = 0, 6 do -- long sleeps outweigh the delays of a busy machine
         one, four = seconds(1, 10 * 2 ^ k), seconds(math.min(most, 4), 10 * 2 ^ k)
         assert.is_true(one >= 0.1 * 2 ^ k)
         if four <= 1.15 * one then return end
      end
      error(('%g s, one: %g s'):format(four, one))
   end)

   it('G5: Ctrl-C ends training on all devices in a second, and nothing stays #noasan #devices2',
      function()
         local status, inTime, text = run.interrupted [[
            require 'dpt'
            print('ready', io.open('/proc/self/stat'):read '*n')
            local net = nn.Sequential():add(nn.Linear(300, 300)):add(nn.Tanh()):cuda()
            local many = nn.DataParallelTable(1, true):add(net, {1, 2})
            local x = torch.randn(64, 300):cuda()
            while true do
               many:zeroGradParameters()
               many:forward(x)
               many:backward(x, many.output)
               many:updateParameters(0.01)
               if many.output:sum() ~= many.output:sum() then break end
            end
         ]]
         assert.equal(130, status)
         assert.is_true(inTime)
         local process = assert(text:match 'ready%s+(%d+)')
         assert.is_nil(io.open('/proc/' .. process .. '/stat')) -- the process has ended
      end)

   it('G6: 9 rows on 4 devices are 3, 2, 2, 2; idle replicas are not called', function()
      if most < 4 then return pending('needs 4 devices') end
      local shares = {[0] = {}, {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}, {2, 1, 1, 1}, {2, 2, 1, 1},
         {2, 2, 2, 1}, {2, 2, 2, 2}, {3, 2, 2, 2}}
      local many = wrap(classes.Calls({}):cuda(), 4)
      for rows = 1, 9 do
         local got = {}
         many:forward{x = torch.randn(rows, 2):cuda(), name = 'given', count = 7}
         for i = 1, 4 do
            local calls = many:get(i).calls
            local call = table.remove(calls)
            if call then
               got[#got + 1] = call.rows
               assert.same({i, 'given', 7}, {call.device, call.input.name, call.input.count})
            end
            assert.equal(0, #calls)
         end
         assert.same(shares[rows], got)
      end
      -- a sample has the same weight on a device with few samples as on one with many
      local one = nn.Sequential():add(nn.Linear(5, 3)):cuda()
      many = wrap(one:clone(), 4)
      for rows = 1, 13 do same.compare(one, many, torch.randn(rows, 5):cuda(), 1e-5) end
   end)

   it('G7: a batch of one goes the same way as any other', function()
      local many = wrap(classes.Calls({}):cuda(), most)
      for _, rows in ipairs{1, 2 * most} do
         for _, input in ipairs{torch.randn(rows, 2):float(), torch.randn(rows, 2):cuda()} do
            local output = many:forward(input)
            local call = table.remove(many:get(1).calls)
            assert.equal('torch.CudaTensor', call.input:type())
            assert.is_false(rawequal(call.input, input)) -- copied to the device, not passed on
            assert.equal(many.inputGpu[1], call.input)
            assert.equal(many.output, output)
            assert.is_false(rawequal(call.module.output, output))
            assert.same({rows, 2}, output:size():totable())
            same.bits(input:float(), output:float())
         end
      end
      many = wrap(nn.Linear(5, 3):cuda(), 1) -- one device is not a special case
      same.compare(many:get(1):clone(), many, torch.randn(1, 5):cuda(), 1e-5)
      assert.is_false(rawequal(many:get(1).output, many.output))
   end)

   it('G9: anything that is no tensor goes through as it is', function()
      local identity = wrap(nn.Identity():cuda(), most)
      local x = torch.randn(most + 1, 3):cuda()
      local mixed = {x, nil, {deep = {[7] = x, words = {'a', 'b'}}}, flag = false, name = 'n',
         [2.5] = 'half', empty = {}, pointer = ffi.new('int[1]')}
      local out = identity:forward(mixed)
      same.bits(x, out[1])
      assert.is_nil(out[2])
      same.bits(x, out[3].deep[7])
      assert.same({'a', 'b'}, out[3].deep.words)
      assert.same({false, 'n', 'half'}, {out.flag, out.name, out[2.5]})
      assert.same({}, out.empty)
      assert.is_true(out.pointer == mixed.pointer)
      mixed[1], mixed.flag = nil, nil -- the next call omits some entries
      out = identity:forward(mixed)
      assert.is_true(out[1] == nil and out.flag == nil)
      same.bits(x, out[3].deep[7])
   end)
end)
