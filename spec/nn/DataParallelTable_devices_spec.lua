local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local steps = require 'spec.support.steps'

same.dispatched('nn.DataParallelTable on devices', function()
   local most = same.most(4)
   same.seeded(13)

   it('A18: a step waits once, for the loss', function()
      local many, criterion = steps.network(most), nn.CrossEntropyCriterion():cuda()
      local target = torch.Tensor(3 * most):random(5):cuda()
      local one = many:get(1):clone()
      for _, net in ipairs{many, one} do
         local input = torch.randn(3 * most, 2, 6, 6):cuda()
         for _ = 1, 3 do
            local before = steps.waits()
            steps.step(net, criterion, input, target)
            assert.equal(1, steps.waits() - before)
         end
      end
      -- copying inputs from host memory waits for no work, whether streams are idle or not
      local host = torch.randn(3 * most, 2, 6, 6):float()
      local large, device = torch.FloatTensor(2 ^ 19):zero(), torch.CudaTensor(2 ^ 19)
      for busy = 0, 1 do
         cutorch.synchronizeAll()
         if busy == 1 then many:forward(host) end
         local waited = steps.waits()
         many:forward(host)
         device:copy(large)
         assert.equal(0, steps.waits() - waited)
      end
   end)

   it('A16: a network that does nothing costs no wait and no copy but of the rows', function()
      local many = nn.DataParallelTable(1, true):add(nn.Identity():cuda(), same.range(most))
      local input = torch.randn(4 * most, 8):cuda()
      same.pass(many, input, input)
      local copied, waited = same.copied(), steps.waits()
      for _ = 1, 10 do same.pass(many, input, input) end
      assert.equal(waited, steps.waits())
      -- input and gradOutput are copied to the other devices, output and gradInput back
      assert.equal(10 * 4 * (most - 1) * 4 * 8 * 4, same.copied() - copied)
   end)

   -- Trains a copy for three steps with stream streams(i) current on device i.
   local function train(many, streams)
      cutorch.reserveStreams(4)
      for i = 1, cutorch.getDeviceCount() do dptffi.lib.stream_set(i, streams(i)) end
      torch.manualSeed(99)
      many = many:clone()
      local flat = many:getParameters()
      local criterion = nn.CrossEntropyCriterion():cuda()
      local input, target = torch.CudaTensor(9, 2, 6, 6), torch.Tensor(9):random(5):cuda()
      local losses = {}
      for k = 1, 3 do
         input:fill(k)
         for row = 1, 9 do input[row]:mul(row):add(torch.randn(2, 6, 6):cuda()) end
         losses[k] = steps.step(many, criterion, input, target)
         input:fill(0 / 0) -- work queued before reads the old values
      end
      return {losses, flat:clone()}
   end

   it('the current stream of every device is honoured, under random delays', function()
      finally(function()
         dptffi.lib.delay_set(0)
         cutorch.setStream(0)
      end)
      local many = steps.network(most)
      local expected = train(many, function() return 0 end)
      for seed, streams in ipairs{
         function() return 0 end, function() return 3 end, function(i) return i % 5 end,
         function(i) return (15 - i) % 5 end,
      } do
         dptffi.lib.delay_set(seed)
         same.bits(expected, train(many, streams))
      end
   end)

   describe('H22: dropout drops the same elements as one device', function()
      local ways = {
         clone = function(many) return many:clone() end,
         file = function(many) return torch.deserialize(torch.serialize(many)) end,
         ['fewer devices'] = function(many) -- also from a file
            local DataParallelTable = nn.DataParallelTable
            finally(function() DataParallelTable.deserializeNGPUs = nil end)
            DataParallelTable.deserializeNGPUs = math.max(1, most - 1)
            return torch.deserialize(torch.serialize(many))
         end,
         clearState = function(many)
            assert.equal(many, many:clearState())
            assert.equal(0, many.output:nElement())
            return many
         end,
         ['streams'] = function(many)
            cutorch.reserveStreams(2)
            finally(function() cutorch.setStream(0) end)
            for i = 1, cutorch.getDeviceCount() do dptffi.lib.stream_set(i, i % 3) end
            return many
         end,
         apply = function(many)
            many:apply(function() end)
            return many
         end,
         type = function(many)
            return many:type('torch.CudaDoubleTensor'):type('torch.CudaTensor')
         end,
      }
      for name, way in pairs(ways) do
         it('in a pass after ' .. name, function()
            local one = nn.Sequential():add(nn.Dropout(0.4)):add(nn.SpatialDropout(0.5))
               :add(nn.View(-1):setNumInputDims(3)):add(nn.Dropout(0.5)):cuda()
            local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
            for round = 1, 4 do
               local input = torch.randn(2 * most + round, 4, 3, 3):cuda()
               local output = same.rewind(many.forward, many, input)
               same.bits(one:forward(input), output)
               local gradOutput = output:clone():normal()
               same.bits(one:backward(input, gradOutput), many:backward(input, gradOutput))
               if round == 2 then many = way(many) end
            end
         end)
      end
   end)
end)
