-- nn.SyncBatchNormalization of one rank, over its devices (SyncBatchNormalization/exchange);
-- spec/distributed tests several ranks.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch

describe('nn.SyncBatchNormalization', function()
   it('is nn.BatchNormalization in a world of one', function()
      local net = nn.Sequential():add(nn.SpatialBatchNormalization(2)):add(nn.View(-1, 8))
         :add(nn.BatchNormalization(8, 1e-3, 0.2, false)):float()
      local other = nn.SyncBatchNormalization.convert(net:clone())
      assert.equal('nn.SyncBatchNormalization', torch.type(other:get(1)))
      assert.equal('nn.View', torch.type(other:get(2)))
      local input, gradOutput = torch.randn(3, 2, 2, 2):float(), torch.randn(3, 8):float()
      for _ = 1, 2 do
         for _, one in ipairs{net, other} do
            one:zeroGradParameters()
            one:forward(input)
            one:backward(input, gradOutput)
         end
         assert.same(net.output:totable(), other.output:totable())
         assert.same(net.gradInput:totable(), other.gradInput:totable())
         assert.same(net:get(1).gradWeight:totable(), other:get(1).gradWeight:totable())
         assert.same(net:get(1).running_var:totable(), other:get(1).running_var:totable())
      end
      net:evaluate()
      other:evaluate()
      assert.same(net:forward(input):totable(), other:forward(input):totable())
      local loaded = torch.deserialize(torch.serialize(other))
      assert.same(other.output:totable(), loaded:forward(input):totable())
   end)

   it('returns a network with the same tensors', function()
      local one = nn.BatchNormalization(3)
      local new = nn.SyncBatchNormalization.convert(one)
      assert.is_true(rawequal(one.weight, new.weight))
      assert.is_true(rawequal(one.running_mean, new.running_mean))
      assert.error_matches(function() new:forward(torch.Tensor(2, 4)) end,
         'nn.SyncBatchNormalization: input of size 2x4, wanted 2 dimensions or more', 1, true)
      assert.equal(3, nn.SyncBatchNormalization(3, 1e-4, 0.1, false).running_var:nElement())
   end)

   -- Compares a network on several devices with one on one device, in doubles.
   local function trains(threads, devices)
      local plain = nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4))
         :add(nn.Tanh()):add(nn.BatchNormalization(4, 1e-3, 0.3, false)):add(nn.Dropout(0.3))
         :cudaDouble()
      local one = plain:clone()
      local net = nn.DataParallelTable(1, true, false, {buffers = 'first'})
         :add(nn.SyncBatchNormalization.convert(plain), devices)
      net:type('torch.CudaDoubleTensor')
      if threads then net:threads() end
      local function near(a, b, what) assert.is_true((a - b):abs():max() < 1e-11, what) end
      local x, dx = net:getParameters()
      local y, dy = one:getParameters()
      for step, rows in ipairs{7, 1, 4, 12} do
         local input = torch.randn(rows, 3):cudaDouble()
         local gradOutput = torch.randn(rows, 4):cudaDouble()
         local state = cutorch.getRNGState(1)
         net:zeroGradParameters()
         net:forward(input)
         net:backward(input, gradOutput)
         local after = cutorch.getRNGState(1)
         cutorch.setRNGState(state, 1)
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput)
         assert.same(cutorch.getRNGState(1):totable(), after:totable())
         near(net.output, one.output, 'output ' .. step)
         near(net.gradInput, one.gradInput, 'gradInput ' .. step)
         near(dx, dy, 'gradient ' .. step)
         x:add(-0.1, dx)
         y:add(-0.1, dy)
      end
      net:evaluate()
      one:evaluate()
      local input = torch.randn(5, 3):cudaDouble()
      near(net:forward(input), one:forward(input), 'evaluation')
      near(net:get(1):get(2).running_mean, one:get(2).running_mean, 'mean')
      near(net:get(1):get(4).running_var, one:get(4).running_var, 'variance')
   end

   local function several()
      return cutorch.getDeviceCount() > 1 and {1, 2} or nil
   end

   it('has the statistics of all devices of one process', function()
      if not several() then return pending 'there is one device' end
      trains(false, several())
      trains(true, several())
   end)

   it("raises a replica's error without a hang of the others", function()
      if not several() then return pending 'there is one device' end
      for _, threads in ipairs{false, true} do
         local net = nn.DataParallelTable(1, true):add(nn.Sequential():add(nn.Linear(3, 4))
            :add(nn.Identity()):add(nn.SyncBatchNormalization(4)):cuda(), several())
         if threads then net:threads(function() require 'dpt' end) end
         local function breaks(f, message)
            net:applyToReplicas(f)
            local ok, why = pcall(net.forward, net, torch.randn(6, 3):cuda())
            assert.is_false(ok)
            assert.matches(message, why)
         end
         breaks(function(module, i)
            module:get(2).updateOutput = i == 2 and function() error('on purpose', 0) end or nil
         end, 'In replica 2 of 2.*on purpose')
         breaks(function(module, i)
            module:get(2).updateOutput = nil
            module:get(3).train = i == 1
         end, 'replica 1 waits for the others, of which replica 2 has ended its pass')
         net:applyToReplicas(function(module) module:get(3).train = true end)
         assert.equal(6, net:forward(torch.randn(6, 3):cuda()):size(1))
      end
   end)
end)
