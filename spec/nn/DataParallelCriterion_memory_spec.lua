local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

describe('nn.DataParallelCriterion', function()
   if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end

   local most = same.most(4)
   same.seeded(5)

   -- Returns the peak bytes of each device in the third and fourth step.
   local function peaks(n, gathered)
      local net = nn.Sequential():add(nn.Linear(32, 1024)):add(nn.ReLU()):add(nn.Tanh())
         :add(nn.Sigmoid()):add(nn.Linear(1024, 100)):add(nn.LogSoftMax())
      local many = nn.DataParallelTable(1, true, false, {gather = gathered}):add(net:cuda(),
         same.range(n))
      many.gradInput = nil
      local criterion = nn.ClassNLLCriterion():cuda()
      if not gathered then criterion = nn.DataParallelCriterion(criterion) end
      local x = torch.randn(n * 1536, 32)
      local y = torch.rand(n * 1536):mul(100):floor():add(1)
      if gathered then y = y:cuda() end
      local parameters, gradients = many:getParameters()
      local function feval()
         many:zeroGradParameters()
         local output = many:forward(x)
         local loss = criterion:forward(output, y)
         many:backward(x, criterion:backward(output, y))
         return loss, gradients
      end
      for step = 1, 4 do
         if step == 3 then
            collectgarbage()
            cutorch.synchronizeAll()
            for i = 1, n do cutorch.resetPeakMemory(i) end
         end
         dpt.optim.sgd(feval, parameters, {learningRate = 0.1})
      end
      cutorch.synchronizeAll()
      local list = {}
      for i = 1, n do list[i] = cutorch.memoryStats(i).peak end
      return list
   end

   it('G1: allocates the same memory on every device', function()
      local n = most
      collectgarbage()
      local before = {}
      for i = 1, n do before[i] = cutorch.memoryStats(i).live end
      local list = peaks(n, false)
      collectgarbage()
      local joined = peaks(n, true)
      for i = 1, n do
         list[i], joined[i] = list[i] - before[i], joined[i] - before[i]
         print(('device %d: %d bytes at most; with gathered outputs %d'):format(i, list[i],
            joined[i]))
      end
      local ratio = math.max(unpack(list)) / math.min(unpack(list))
      print(('G1: the busiest device needs %.4f times the least busy one\'s bytes (gathered: %.4f)')
         :format(ratio, math.max(unpack(joined)) / math.min(unpack(joined))))
      assert.is_true(ratio <= 1.05)
      -- with outputs joined in one tensor, the same network needs more memory on the first device
      assert.is_true(joined[1] / joined[2] > ratio)
   end)
end)
