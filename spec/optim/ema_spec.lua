-- optim.ema: moving averages of parameters.
local bad = require('spec.support.descent').bad

-- Averages of PyTorch's get_ema_multi_avg_fn after 100 updates, by decay.
local recorded = {
   [0.999] = {1.4408183420277356, -1.1511690417886951, 4.3105941347624475},
   [0.9] = {0.40378116633324657, -1.1457812737458777, 8.0869084288697017},
   [0.3] = {0.23473817909734201, -1.8756858590366929, 8.1830730860180019},
}

local function move(x, t)
   x:add(torch.DoubleTensor{math.cos(t), math.sin(t), 1 / t}:typeAs(x))
end

describe('optim.ema', function()
   for decay, wanted in pairs(recorded) do
      it('has the values of PyTorch, from a checkpoint halfway, decay ' .. decay, function()
         for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor',
            'torch.FloatTensor'} do
            local x = torch.DoubleTensor{1, -2, 3}:type(typename)
            local ema = optim.ema(x, decay)
            for t = 1, 100 do
               move(x, t)
               assert.equal(ema, ema:update())
               if t == 50 then
                  local state = torch.deserialize(torch.serialize(ema.state))
                  ema = optim.ema(x, decay, state)
               end
            end
            local distance = (ema.state.average:double() - torch.DoubleTensor(wanted)):abs():max()
            assert.is_true(distance < (typename:find 'Double' and 1e-12 or 1e-4), typename)
            assert.equal(100, ema.state.n)
         end
      end)
   end

   it('keeps averages of reduced types in float', function()
      for _, typename in ipairs{'torch.HalfTensor', 'torch.CudaHalfTensor', 'torch.BFloat16Tensor',
         'torch.CudaBFloat16Tensor'} do
         local x = torch.DoubleTensor{1, -2, 3}:type(typename)
         local y = x:double()
         local ema, wanted = optim.ema(x, 0.999), optim.ema(y, 0.999)
         for t = 1, 100 do
            move(x, t)
            y:copy(x:double())
            ema:update()
            wanted:update()
         end
         local average = ema.state.average
         assert.equal(typename:find 'Cuda' and 'torch.CudaTensor' or 'torch.FloatTensor',
            average:type())
         assert.is_true((average:double() - wanted.state.average):abs():max() < 1e-5)
         local before = x:double()
         ema:swap()
         assert.is_true(x:double():equal(average:type(typename):double()))
         ema:swap()
         assert.is_true(x:double():equal(before))
      end
   end)

   it('swaps the parameters of a network and back, also of one that was saved in between',
      function()
         local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(3, 1))
         local x, input = net:getParameters(), torch.rand(4, 2)
         local ema = optim.ema(x, 0.5)
         ema:update()
         local first = net:forward(input):clone()
         x:add(1)
         ema:update()
         local second, half = net:forward(input):clone(), x - 0.5
         assert.equal(ema, ema:swap())
         assert.is_true((x - half):abs():max() < 1e-15)
         assert.is_false(net:forward(input):equal(first) or net:forward(input):equal(second))
         local saved = torch.deserialize(torch.serialize{net = net, state = ema.state})
         ema:swap()
         assert.is_true(net:forward(input):equal(second))
         assert.is_nil(ema.state.saved)
         local y = saved.net:getParameters()
         assert.is_true((y - half):abs():max() < 1e-15)
         optim.ema(y, 0.5, saved.state):swap()
         assert.is_true(saved.net:forward(input):equal(second))
      end)

   it('is saved as an object, with the network', function()
      local net = nn.Linear(2, 1)
      local x = net:getParameters()
      local list = torch.deserialize(torch.serialize{net, optim.ema(x, 0.75):update()})
      local y, ema = list[1]:getParameters(), list[2]
      y:fill(4)
      ema:update()
      assert.is_true((ema.state.average - (x * 0.75 + 1)):abs():max() < 1e-15)
   end)

   it('writes the averages to all replicas, from any device #devices2', function()
      local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2})
      local x, input = net:getParameters(), torch.rand(4, 2):cuda()
      local ema = cutorch.withDevice(2, optim.ema, x, 0.5)
      assert.equal(1, ema.state.average:getDevice())
      x:fill(1)
      ema:update()
      x:fill(3)
      cutorch.withDevice(2, ema.update, ema)
      net:forward(input)
      cutorch.withDevice(2, ema.swap, ema)
      assert.equal(1, ema.state.saved:getDevice())
      local wanted = input:sum(2):add(1):mul(2):float()
      assert.is_true((net:forward(input):float() - wanted):abs():max() < 1e-5)
   end)

   it('allocates nothing after the first update', function()
      for _, typename in ipairs{'torch.CudaTensor', 'torch.CudaHalfTensor'} do
         local x = torch.FloatTensor(1e5):fill(1):type(typename)
         local ema = optim.ema(x):update()
         collectgarbage()
         collectgarbage()
         cutorch.synchronize()
         cutorch.resetPeakMemory()
         local live = cutorch.memoryStats().live
         for _ = 1, 3 do ema:update() end
         cutorch.synchronize()
         assert.equal(live, cutorch.memoryStats().peak, typename)
      end
   end)

   it('rejects wrong arguments and updates of the averages, at the line of the script', function()
      local x = torch.ones(3)
      bad("optim.ema: argument 'x' is a table, wanted a tensor", optim.ema, {})
      bad("optim.ema: argument 'decay' is 1.5, wanted a number from 0 to 1", optim.ema, x, 1.5)
      bad("optim.ema: argument 'decay' is nan, wanted a number from 0 to 1", optim.ema, x, 0 / 0)
      bad("optim.ema: argument 'decay' is a table, wanted a number", optim.ema, x, {})
      bad("optim.ema: argument 'state' is a number, wanted a table", optim.ema, x, 0.9, 3)
      bad("optim.ema: the state 'average' is a torch.DoubleTensor of 2 elements, wanted a"
         .. ' torch.DoubleTensor of 3 elements as x', optim.ema, x, 0.9,
         {average = torch.ones(2)})
      local ema = optim.ema(x, 0.9):swap()
      local line, raised = bad('optim.ema: update: x holds the averages, wanted the parameters;'
         .. ' call swap before', function() ema:update() end)
      assert.equal(line + 1, raised)
      local net = nn.Linear(2, 2)
      ema = optim.ema((net:getParameters()))
      net.weight, net.gradWeight = net.weight:clone(), net.gradWeight:clone()
      net:getParameters()
      for _, name in ipairs{'update', 'swap'} do
         bad("optim.ema: argument 'x' holds parameters that have moved elsewhere, since the network"
            .. ' was changed or flattened anew: call getParameters again', ema[name], ema)
      end
   end)
end)
