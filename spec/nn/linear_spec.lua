--- Layers with parameters: nn.Linear, nn.CMul, nn.LookupTable and others.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

describe('Layers with parameters:', function()
   for i, case in ipairs{
      {'Linear', {5, 3}, {5}}, {'Linear', {5, 3}, {4, 5}}, {'Linear', {5, 3, false}, {4, 5}},
      {'Linear', {6, 1}, {3, 6}}, {'Linear', {5, 3}, {2, 3, 5}},
      {'Linear', {3, 2, false}, {2, 1, 3, 3}}, {'LinearWeightNorm', {4, 3}, {2, 4}},
      {'LinearWeightNorm', {4, 3}, {2, 3, 4}}, {'PartialLinear', {4, 5}, {3, 4}},
      {'PartialLinear', {4, 5}, {2, 3, 4}},
      {'Add', {5}, {5}}, {'Add', {4}, {3, 4}}, {'Add', {4, true}, {3, 4}}, {'Mul', {}, {2, 3, 2}},
      {'CMul', {5}, {5}}, {'CMul', {4}, {3, 4}}, {'CMul', {1, 3, 1, 1}, {2, 3, 2, 2}},
      {'CAdd', {4}, {3, 4}},
      {'CAdd', {1, 3, 1, 1}, {2, 3, 2, 2}}, {'Euclidean', {4, 3}, {4}},
      {'Euclidean', {4, 3}, {2, 4}},
      {'WeightedEuclidean', {4, 3}, {2, 4}}, {'Cosine', {4, 3}, {4}}, {'Cosine', {4, 3}, {2, 4}},
      {'Maxout', {4, 2, 3}, {3, 4}}, {'TemporalConvolution', {3, 2, 2}, {5, 3}},
      {'TemporalConvolution', {2, 3, 3, 2}, {2, 7, 2}}, {'TemporalSubSampling', {3, 2}, {5, 3}},
      {'TemporalRowConvolution', {2, 3}, {2, 5, 2}},
      {'TemporalRowConvolution', {3, 2, 1, true}, {3, 5}},
   } do
      local name, arguments, size = case[1], case[2], case[3]
      it(('nn.%s has the gradients that differences show (case %d)'):format(name, i), function()
         check.module(function() return nn[name](unpack(arguments)) end, random(unpack(size)),
            {tolerance = name:find('Euclidean') and 1e-5 or 1e-6})
      end)
   end

   it('nn.Linear returns for any leading sizes what it returns for the rows of a matrix', function()
      local m = nn.Linear(4, 3)
      local folded = m:clone()
      for _, size in ipairs{{2, 3}, {5, 1, 2}, {0, 3}, {3, 0}, {2, 1, 2, 3, 2, 1, 2}} do
         local function sized(last)
            local all = {unpack(size)}
            all[#all + 1] = last
            return torch.LongStorage(all)
         end
         local x = torch.randn(sized(4))
         local gy = torch.randn(sized(3))
         local rows, grows = x:view(-1, 4), gy:view(-1, 3)
         for _, net in ipairs{m, folded} do net:zeroGradParameters() end
         local y, gx = m:forward(x), m:backward(x, gy, 0.5)
         assert.same(sized(3):totable(), y:size():totable())
         assert.same(sized(4):totable(), gx:size():totable())
         check.close(y:view(-1, 3), folded:forward(rows), 0, 'output')
         check.close(gx:view(-1, 4), folded:backward(rows, grows, 0.5), 0, 'gradInput')
         m:sharedAccUpdateGradParameters(x, gy, 0.1)
         folded:sharedAccUpdateGradParameters(rows, grows, 0.1)
         for i, t in ipairs{m.gradWeight, m.gradBias, m.weight, m.bias} do
            local other = {folded.gradWeight, folded.gradBias, folded.weight, folded.bias}
            check.close(t, other[i], 0, 'parameters')
         end
      end
      local turned = torch.randn(4, 3, 2):transpose(1, 3)
      check.close(m:forward(turned):clone(), m:forward(turned:clone()), 0, 'a transposed input')
   end)

   it('nn.Linear on T x B x inputSize is split along the dimension of the batch', function()
      if not cutorch then return end
      local net = nn.Sequential():add(nn.SeqGRU(3, 4)):add(nn.Linear(4, 2)):cuda()
      local split = nn.DataParallelTable(1):add(net:clone(), {1, 2})
      local x = torch.randn(5, 3, 3):cuda()
      check.close(split:forward(x), net:forward(x), 1e-6, 'output')
      local gy = torch.randn(5, 3, 2):cuda()
      for _, each in ipairs{net, split} do each:zeroGradParameters() end
      check.close(split:backward(x, gy), net:backward(x, gy), 1e-6, 'gradInput')
      local _, wanted = net:parameters()
      local _, got = split:parameters()
      check.close(got, wanted, 1e-5, 'gradients')
   end)

   it('nn.PartialLinear computes the outputs that were chosen', function()
      local m = nn.PartialLinear(4, 6)
      local x = torch.rand(3, 4)
      local all = m:forward(x):clone()
      m:setPartition(torch.Tensor{2, 6})
      local some = m:forward(x)
      assert.are.same({3, 2}, some:size():totable())
      assert.is_true((some:select(2, 2) - all:select(2, 6)):abs():max() < 1e-12)
      m:zeroGradParameters()
      m:backward(x, torch.ones(3, 2))
      local _, gradients = m:parameters()
      assert.are.equal(0, gradients[1][1]:abs():max())
      assert.is_true(gradients[1][6]:abs():max() > 0)
      check.module(function()
         local part = nn.PartialLinear(4, 5)
         part:setPartition(torch.Tensor{5, 1})
         return part
      end, function() return torch.rand(3, 4) end)
   end)

   it('nn.SparseLinear agrees with nn.Linear', function()
      local sparse, dense = nn.SparseLinear(8, 3), nn.Linear(8, 3)
      dense.weight:copy(sparse.weight)
      dense.bias:copy(sparse.bias)
      local x, y = torch.zeros(8), torch.Tensor{{1, 0.5}, {4, -1.25}, {7, 2}}
      for i = 1, 3 do x[y[i][1]] = y[i][2] end
      assert.is_true((sparse:forward(y) - dense:forward(x)):abs():max() < 1e-12)
      sparse:zeroGradParameters()
      dense:zeroGradParameters()
      local g = torch.rand(3)
      sparse:backward(y, g)
      dense:backward(x, g)
      assert.is_true((sparse.gradWeight - dense.gradWeight):abs():max() < 1e-12)
      assert.is_true((sparse.gradBias - dense.gradBias):abs():max() < 1e-12)
   end)

   describe('nn.LookupTable', function()
      it('returns rows of the weight, for a vector and a matrix of any type', function()
         for _, typename in ipairs{'Double', 'Float', 'Long', 'Int', 'Byte'} do
            local m = nn.LookupTable(6, 3)
            local out = m:forward(torch[typename .. 'Tensor']{{1, 6}, {2, 2}})
            assert.are.same({2, 2, 3}, out:size():totable())
            assert.are.equal(0, (out[1][2] - m.weight[6]):abs():max())
         end
      end)
      it('adds gradients of repeated indices and none for padding', function()
         local m = nn.LookupTable(4, 2, 1)
         m:zeroGradParameters()
         local x = torch.LongTensor{3, 1, 3}
         m:forward(x)
         m:backward(x, torch.ones(3, 2), 0.5)
         assert.are.same({{0, 0}, {0, 0}, {1, 1}, {0, 0}}, m.gradWeight:totable())
      end)
      it('returns the same on devices as on the host', function()
         if not cutorch then return end
         local m = nn.LookupTable(5, 3):float()
         local d = m:clone():cuda()
         local x = torch.LongTensor{5, 1, 5}
         for _, index in ipairs{x, x:type('torch.CudaLongTensor'), x:type('torch.CudaTensor')} do
            assert.are.equal(0, (d:forward(index):float() - m:forward(x)):abs():max())
         end
      end)
      it('rejects indices out of range', function()
         for _, none in ipairs{torch.Tensor(), torch.LongTensor(0), torch.CudaTensor(0)} do
            local m = nn.LookupTable(3, 2):type(none:type():find 'Cuda' and none:type()
               or 'torch.DoubleTensor')
            assert.same({0, 2}, m:forward(none):size():totable()) -- an empty vector of indices
            assert.are.equal(0, m:backward(none, m.output:clone()):nElement())
         end
         assert.has_error(function() nn.LookupTable(3, 2):forward(torch.Tensor{1, 4}) end)
         assert.has_error(function() nn.LookupTable(3, 2):forward(torch.Tensor{0}) end)
         assert.has_error(function()
            nn.LookupTable(3, 2):forward(torch.Tensor(2, 2, 2):fill(1))
         end,
            'nn.LookupTable: input wants 1 or 2 dimensions, got 3')
      end)
   end)

   it('all begin with the values of Torch7 for a seed', function()
      torch.manualSeed(7)
      local m = nn.Linear(3, 2)
      assert.is_true(math.abs(m.weight[1][1] + 0.48923704428981385) < 1e-12)
      assert.is_true(math.abs(m.bias[2] + 0.051286131023956252) < 1e-12)
   end)

   it('all reject wrong sizes and types by one error message, and work afterwards', function()
      local m = nn.Linear(4, 2)
      for _, bad in ipairs{torch.rand(3, 5), torch.rand(2, 4, 3), torch.rand(4):float(), false,
         'text', {}} do
         local ok, why = pcall(m.forward, m, bad)
         assert.is_false(ok)
         assert.is_nil(why:find('\n'), why)
      end
      assert.has_error(function() m:forward(torch.rand(4):float()) end,
         "linear: argument 'weight' is a torch.DoubleTensor, wanted a torch.FloatTensor "
            .. "as argument 'input' is")
      assert.has_error(function() m:forward(nil) end)
      local x = torch.rand(2, 3, 4)
      assert.has_error(function() m:backward(x, torch.rand(2, 3, 3)) end,
         "linear: size mismatch: argument 'gradOutput' is a torch.DoubleTensor of size 2x3x3,"
            .. ' wanted 2 or Bx2 elements')
      assert.has_error(function() m:accGradParameters(x, torch.rand(6, 2)) end,
         "linear: argument 'gradOutput' is a torch.DoubleTensor of size 6x2, wanted size 2x3x2")
      assert.are.equal(2, m:forward(torch.rand(4)):size(1))
      assert.has_error(function() nn.Linear(4) end,
         "nn.Linear: argument 'outputSize', wanted a number, got nil")
   end)
end)
