--- Containers and layers over tables.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

local function randomTable(sizes)
   return function()
      local list = {}
      for i, size in ipairs(sizes) do list[i] = random(unpack(size))() end
      return list
   end
end

describe('The containers (nn.Container):', function()
   it('nn.Sequential has the gradients that differences show', function()
      check.module(function()
         return nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2))
      end, random(2, 4))
   end)
   it('nn.Concat has the gradients that differences show', function()
      check.module(function() return nn.Concat(2):add(nn.Linear(3, 2)):add(nn.Linear(3, 4)) end,
         random(2, 3))
      check.module(function() return nn.Concat(1):add(nn.Linear(3, 2)):add(nn.Tanh()) end,
         random(3))
   end)
   it('nn.DepthConcat has the gradients that differences show', function()
      check.module(function()
         return nn.DepthConcat(1):add(nn.SpatialConvolution(1, 2, 1, 1))
            :add(nn.SpatialConvolution(1, 1, 3, 3))
      end, random(1, 4, 4))
   end)
   it('nn.Parallel has the gradients that differences show', function()
      check.module(function()
         return nn.Parallel(2, 1):add(nn.Linear(4, 2)):add(nn.Linear(4, 1))
      end, random(4, 2))
   end)
   it('nn.ConcatTable has its gradients for a tensor and for a table', function()
      check.module(function()
         return nn.ConcatTable():add(nn.Linear(3, 2)):add(nn.Identity()):add(nn.Tanh())
      end, random(2, 3))
      check.module(function()
         return nn.ConcatTable():add(nn.SelectTable(1)):add(nn.CAddTable())
      end,
         randomTable{{2, 3}, {2, 3}})
   end)
   it('nn.ParallelTable and nn.MapTable have their gradients', function()
      check.module(function() return nn.ParallelTable():add(nn.Linear(3, 2)):add(nn.Tanh()) end,
         randomTable{{2, 3}, {4}})
   end)
   it('nn.MapTable shares its module among the entries', function()
      local m = nn.MapTable(nn.Linear(3, 2))
      local out = m:forward{torch.rand(3), torch.rand(2, 3), torch.rand(3)}
      assert.are.equal(3, #out)
      assert.is_true(m:get(3).weight:isSetTo(m:get(1).weight))
      local p = m:getParameters()
      assert.are.equal(8, p:size(1))
      m:resize(2)
      assert.are.equal(2, m:size())
      for _, n in ipairs{-1/0, 0/0, -1, 2 ^ 31} do -- some would never end
         assert.error_matches(function() m:resize(n) end, "resize: argument 'n' is")
      end
      assert.are.equal(2, m:size())
   end)
   it('nn.Bottle has the gradients that differences show', function()
      check.module(function() return nn.Bottle(nn.Linear(3, 2)) end, random(2, 2, 3))
      check.module(function() return nn.Bottle(nn.TemporalConvolution(2, 3, 2), 3, 3) end,
         random(2, 2, 3, 2))
   end)
   it('nn.Decorator, nn.DontCast and nn.WeightNorm have their gradients', function()
      check.module(function() return nn.Decorator(nn.Linear(3, 2)) end, random(2, 3))
      check.module(function() return nn.WeightNorm(nn.Linear(4, 3)) end, random(2, 4))
      local m = nn.DontCast(nn.Linear(3, 2):float(), true):double()
      assert.are.equal('torch.FloatTensor', torch.type(m:get(1).weight))
      assert.are.equal('torch.DoubleTensor', torch.type(m:forward(torch.rand(3))))
   end)

   it('nn.WeightNorm and nn.LinearWeightNorm update v by the g that was', function()
      for _, m in ipairs{nn.WeightNorm(nn.Linear(4, 3)), nn.LinearWeightNorm(4, 3)} do
         local x, g = random(2, 4)(), random(2, 3)()
         m:forward(x)
         m:zeroGradParameters()
         m:backward(x, g)
         local wanted = {}
         local gradients = select(2, m:parameters())
         for i, t in ipairs((m:parameters())) do wanted[i] = t - gradients[i] * 0.5 end
         m:accUpdateGradParameters(x, g, 0.5)
         for i, t in ipairs((m:parameters())) do
            assert.is_true((t - wanted[i]):abs():max() < 1e-12)
         end
      end
   end)

   it('nn.WeightNorm lays v out as Torch7 did, whose files have no weight', function()
      check.module(function() return nn.WeightNorm(nn.Linear(4, 3), 2) end, random(2, 4))
      check.module(function() return nn.WeightNorm(nn.SpatialFullConvolution(2, 3, 2, 2), 3) end,
         random(1, 2, 3, 3))
      local m = nn.WeightNorm(nn.Bilinear(3, 4, 2), 3) -- the weight is 2 x 3 x 4
      assert.are.same({4, 6}, m.viewIn:totable())
      assert.are.same({4, 2, 3}, m.viewOut:totable())
      local x = {torch.randn(5, 3), torch.randn(5, 4)}
      local y = m:forward(x):clone()
      local length = torch.sqrt(m.v[2]:dot(m.v[2]) + 1e-4)
      assert.are.near(m.g[2][1] * m.v[2][6] / length, m.weight[2][3][2], 1e-12)
      local inside = m:get(1)
      m.weight, m.gradWeight, inside.weight, inside.gradWeight = nil, nil, nil, nil
      local read = torch.deserialize(torch.serialize(m))
      assert.is_true(read:forward(x):equal(y))
      assert.are.equal(read.weight, read:get(1).weight)
      read:backward(x, y)
      -- a file of dpt 1.0.0 has no sizes, and has dimension 1 swapped with outputDim
      local old = nn.WeightNorm(nn.Bilinear(3, 4, 2), 3)
      local expected = old:forward(x):clone()
      local swapped = old.v:view(4, 2, 3):transpose(2, 3):contiguous():view(4, 6)
      old.v:copy(swapped)
      old.viewIn, old.viewOut, old.weightSize, old.otherDims = nil, nil, nil, nil
      assert.is_true(torch.deserialize(torch.serialize(old)):forward(x):equal(expected))
      -- fairseq replaces the module by a network that contains it and its tensors
      read.modules[1] = nn.Sequential():add(read:get(1))
      read:updateParameters(1)
      assert.is_false(read:forward(x):equal(y))
   end)

   for name, case in pairs{
      JoinTable = {{1}, {{2, 3}, {1, 3}}}, NarrowTable = {{2, 2}, {{2}, {3}, {1, 2}, {2}}},
      SelectTable = {{-1}, {{2}, {3}, {2, 2}}}, CAddTable = {{}, {{2, 3}, {2, 3}, {2, 3}}},
      CSubTable = {{}, {{2, 3}, {2, 3}}}, CMulTable = {{}, {{2, 3}, {2, 3}, {2, 3}}},
      CMaxTable = {{}, {{2, 3}, {2, 3}}}, CMinTable = {{}, {{2, 3}, {2, 3}}},
      MM = {{}, {{2, 3}, {3, 4}}}, MV = {{}, {{2, 2, 3}, {2, 3}}},
      DotProduct = {{}, {{3, 4}, {3, 4}}},
      CosineDistance = {{}, {{3, 4}, {3, 4}}}, Bilinear = {{3, 2, 4}, {{5, 3}, {5, 2}}},
   } do
      it('nn.' .. name .. ' has the gradients that differences show', function()
         check.module(function() return nn[name](unpack(case[1])) end, randomTable(case[2]))
      end)
   end
   it('nn.CosineDistance reports wrong inputs', function()
      for _, b in ipairs{torch.rand(2, 2, 2), torch.rand(3, 2), torch.rand(3)} do
         assert.error_matches(function() nn.CosineDistance():forward{torch.rand(2, 2), b} end,
            'nn.CosineDistance: wants vectors or matrices of one size, got a torch.DoubleTensor of'
            .. ' size 2x2 and a')
      end
   end)
   it('nn.MM has its gradients for turned matrices', function()
      check.module(function() return nn.MM(true, true) end, randomTable{{2, 3, 4}, {2, 5, 3}})
   end)
   it('nn.PairwiseDistance has the gradients that differences show', function()
      for p = 1, 3 do
         check.module(function() return nn.PairwiseDistance(p) end, randomTable{{3, 4}, {3, 4}},
            {tolerance = 1e-4})
      end
   end)
   it('nn.CDivTable has the gradients that differences show', function()
      check.module(nn.CDivTable, function()
         return {torch.rand(2, 3), torch.rand(2, 3):add(0.5)}
      end)
   end)
   it('nn.SplitTable has the gradients that differences show', function()
      check.module(function() return nn.SplitTable(1) end, random(3, 2))
      check.module(function() return nn.SplitTable(1, 1) end, random(2, 3))
   end)
   it('nn.MixtureTable has the gradients that differences show', function()
      check.module(nn.MixtureTable, function()
         return {torch.rand(3, 2), {torch.rand(3, 4), torch.rand(3, 4)}}
      end)
      check.module(nn.MixtureTable, function() return {torch.rand(3, 2), torch.rand(3, 2, 4)} end)
   end)
   it('nn.FlattenTable and nn.ZipTable keep the tensors', function()
      local a, b, c = torch.rand(2), torch.rand(3), torch.rand(1)
      local out = nn.FlattenTable():forward{a, {b, {c}}}
      assert.are.equal(a, out[1])
      assert.are.equal(c, out[3])
      local zipped = nn.ZipTable():forward{{a, b}, {b, c}}
      assert.are.equal(c, zipped[2][2])
   end)

   it('they name the way to the module that failed, with one traceback', function()
      local net = nn.Sequential():add(nn.Identity())
         :add(nn.ParallelTable():add(nn.Identity()):add(nn.Sequential():add(nn.Linear(4, 2))))
      local ok, why = pcall(net.forward, net, {torch.rand(3), torch.rand(3)})
      assert.is_false(ok)
      assert.is_truthy(why:find('^In 2 module of nn.Sequential:\nIn 2 module of nn.ParallelTable:\n'
         .. 'In 1 module of nn.Sequential:\n'), why)
      local _, tracebacks = why:gsub('stack traceback:', '')
      assert.are.equal(1, tracebacks)
      local out = net:forward{torch.rand(3), torch.rand(4)} -- the network still works
      assert.are.equal(2, out[2]:size(1))
   end)

   it('they pass errors that are not strings unchanged', function()
      local Raises = torch.class('nn.SpecRaises', 'nn.Module')
      local value = {}
      function Raises:updateOutput() error(value) end
      local ok, why = pcall(nn.Sequential.forward, nn.Sequential():add(nn.SpecRaises()),
         torch.rand(1))
      assert.is_false(ok)
      assert.are.equal(value, why)
   end)

   -- Torch7's programs rely on this: updateGradInput may return a tensor that it does not store.
   it("nn.Sequential continues with updateGradInput's result, called with two arguments", function()
      local Returning = torch.class('nn.ContainerSpecReturning_', 'nn.Module')
      function Returning:updateOutput(x) return x * 2 end
      function Returning:updateGradInput(...)
         assert.are.equal(2, select('#', ...))
         return select(2, ...) * 3
      end
      function Returning:accGradParameters(_, gradOutput) self.got = gradOutput:sum() end
      local net = nn.Sequential()
      for _ = 1, 3 do net:add(nn.ContainerSpecReturning_()) end
      local x = torch.ones(2, 2)
      assert.are.equal(32, net:forward(x):sum())
      assert.are.equal(108, net:updateGradInput(x, x):sum())
      net:accGradParameters(x, x)
      for i, got in ipairs{36, 12, 4} do assert.are.equal(got, net:get(i).got) end
   end)

   it('nn.Parallel, nn.Concat and nn.DepthConcat contain modules without a dimension', function()
      for _, name in ipairs{'Parallel', 'Concat', 'DepthConcat'} do
         local holder = nn[name]():add(nn.Linear(2, 3)):add(nn.Linear(2, 1))
         assert.are.equal(12, holder:getParameters():nElement())
         assert.error_matches(function() holder:forward(torch.ones(2, 2)) end,
            'nn.' .. name .. ': %a+ is nil, wanted a number: it was made without')
      end
   end)

   it('they insert and remove modules', function()
      local net = nn.Sequential():add(nn.Tanh()):add(nn.ReLU())
      net:insert(nn.Sigmoid(), 1)
      assert.are.equal('nn.Sigmoid', torch.type(net:get(1)))
      assert.are.equal('nn.ReLU', torch.type(net:remove()))
      assert.are.equal(2, net:size())
      assert.has_error(function() net:insert(nn.Tanh(), 9) end,
         'nn.Sequential: insert at 9 is not in 1..3')
      assert.has_error(function() net:remove(5) end, 'nn.Sequential: remove of 5 is not in 1..2')
   end)

   it('one that contains itself raises an error, not a stack overflow', function()
      local net = nn.Sequential():add(nn.Linear(3, 3))
      assert.has_error(function() net:add(net) end,
         "nn.Sequential: add: argument 'module' is the container itself")
      assert.has_error(function() net:insert(net, 1) end,
         "nn.Sequential: insert: argument 'module' is the container itself")
      local branches = nn.ConcatTable():add(nn.Identity()):add(net)
      net:add(branches)
      for _ = 1, 3 do
         local ok, message = pcall(net.forward, net, torch.ones(2, 3))
         assert.is_false(ok)
         assert.matches('^[^\n]*nn.%a+: updateOutput: more than 1000 containers inside each other:'
            .. ' does one of them contain itself%?\n', message)
      end
      branches.modules[2] = nil
      assert.are.equal(3, net:forward(torch.ones(2, 3))[1]:size(2))
   end)

   it('calls left in an abandoned coroutine do not count as nested containers', function()
      local Waits = torch.class('nn.ContainerSpecWaits_', 'nn.Module')
      function Waits:updateOutput(input)
         coroutine.yield(input)
         return input
      end
      local net = nn.Sequential():add(nn.ContainerSpecWaits_())
      local outer = nn.Sequential():add(net)
      local input = torch.ones(1)
      for _ = 1, 1100 do
         -- Each starts inside the previous one, which continues first, so the count only grows.
         local first = coroutine.wrap(function() outer:forward(input) end)
         local second = coroutine.wrap(function() outer:forward(input) end)
         first()
         second()
         first()
         second()
      end
   end)

   it('they print as Torch7 did', function()
      assert.are.equal([[
nn.Sequential {
  [input -> (1) -> (2) -> output]
  (1): nn.ConcatTable {
    input
      |`-> (1): nn.Linear(3 -> 2)
       `-> (2): nn.Identity
       ... -> output
  }
  (2): nn.CAddTable
}]], tostring(nn.Sequential():add(nn.ConcatTable():add(nn.Linear(3, 2)):add(nn.Identity()))
   :add(nn.CAddTable())))
   end)
end)
