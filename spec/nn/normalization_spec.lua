--- Batch normalization and its relatives, dropout.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

-- By title: class, arguments, input size, and PyTorch's checksums of the output and all gradients.
-- The sizes cover one and more parameters per row, groups and positions.
local ROWS = {
   {'LayerNorm', {6}, {4, 6},
      {23.8499858035782, -4.78020300465897, 6.84386815745838, -11.6758163538046}},
   {'LayerNorm', {{2, 3}, 1e-3}, {2, 2, 2, 3},
      {23.9335244774924, -4.78426433699268, 6.83718581481299, -11.6758163538046}},
   {'LayerNorm', {6, 1e-5, true, false}, {4, 6},
      {-88.1500141964218, -4.78020300465897, 6.84386815745838}},
   {'RMSNorm', {6}, {4, 6}, {-81.7982373480248, -70.6309209943246, 6.80306717801833}},
   {'RMSNorm', {torch.LongStorage{2, 3}, 0.1}, {5, 2, 3},
      {-90.3611162437688, 28.5054240572168, 16.1432684557753}},
   {'GroupNorm', {2, 4}, {3, 4, 5},
      {494.047719645492, 39.8599436720832, -24.1968472225933, -1.40701148706977}},
   {'GroupNorm', {2, 6, 0.01}, {3, 6},
      {61.1183983330101, -0.906664844534525, -3.38810819001294, 0.105260389225967}},
   {'InstanceNorm', {3, 1e-5, true}, {2, 3, 2, 3},
      {93.8557901073503, 7.74409243611334, -7.16344618787227, 3.46629881963275}},
   {'InstanceNorm', {3}, {2, 3, 5}, {-7.53085624432676, 11.3446055461305}},
}

-- Returns f(1), f(2) ... in a tensor of a given size.
local function series(size, f)
   local t = torch.DoubleTensor(torch.LongStorage(size))
   return t:copy(torch.range(1, t:nElement())):apply(f)
end

local function checksum(t)
   return t:double():reshape(t:nElement()):dot(torch.range(1, t:nElement()):double())
end

-- Returns a layer of ROWS with the parameters that PyTorch's sums are of.
local function rowLayer(case)
   local m = nn[case[1]](unpack(case[2])):double()
   for field, first in pairs{weight = 1, bias = 0} do
      local t = m[field]
      if t then t:copy(series({t:nElement()}, function(k) return first + k / 10 end)) end
   end
   return m
end

-- Returns the output and all gradients of a layer.
local function passes(m, x, g)
   m:zeroGradParameters()
   return {m:forward(x), m:backward(x, g), m.gradWeight, m.gradBias}
end

local function evaluated(make)
   return function()
      local m = make()
      m.running_mean:fill(0.25)
      m.running_var:fill(0.5)
      m:evaluate()
      return m
   end
end

describe('Normalization', function()
   for i, case in ipairs{
      {'BatchNormalization', {3}, {5, 3}}, {'BatchNormalization', {3, 1e-3, 0.1, false}, {5, 3}},
      {'SpatialBatchNormalization', {2}, {3, 2, 2, 3}},
      {'VolumetricBatchNormalization', {2}, {2, 2, 2, 2, 2}},
   } do
      local name, arguments, size = case[1], case[2], case[3]
      local function make() return nn[name](unpack(arguments)) end
      it(('by nn.%s has the gradients that differences show (case %d)'):format(name, i), function()
         check.module(make, random(unpack(size)), {tolerance = 1e-5})
         check.module(evaluated(make), random(unpack(size)))
      end)
   end
   it('moves the running values towards the batch\'s', function()
      local m = nn.BatchNormalization(1, 0, 0.5)
      m:forward(torch.Tensor{{1}, {3}})
      assert.are.equal(1, m.running_mean[1])
      assert.are.equal(1.5, m.running_var[1]) -- (1 + 2) / 2: the batch's unbiased variance is 2
      m:evaluate()
      m:forward(torch.Tensor{{5}, {9}})
      assert.are.equal(1, m.running_mean[1])
   end)
   it('rejects wrong sizes by one error message', function()
      assert.has_error(function() nn.BatchNormalization(3):forward(torch.rand(2, 4)) end,
         'nn.BatchNormalization: input of size 2x4,'
            .. ' wanted 2 dimensions of which the second has size 3')
      assert.has_error(function() nn.SpatialBatchNormalization(3):forward(torch.rand(3, 2, 2)) end)
      assert.has_error(function()
         nn.BatchNormalization(2):backward(torch.rand(2, 2), torch.rand(2, 2))
      end,
         'nn.BatchNormalization: backward wants a forward before it')
   end)
   for i, case in ipairs(ROWS) do
      local name, size = case[1], case[3]
      local title = ('of rows by nn.%s (case %d)'):format(name, i)
      local x = series(size, math.sin)
      local g = series(size, function(k) return math.cos(k * 0.7) end)

      it(title .. ' has the values and gradients of PyTorch', function()
         for k, t in ipairs(passes(rowLayer(case), x, g)) do
            assert.near(case[4][k], checksum(t), 1e-11 * math.abs(case[4][k]))
         end
      end)
      it(title .. ' has the gradients that differences show', function()
         check.module(function() return rowLayer(case) end, random(unpack(size)),
            {tolerance = 1e-5})
      end)
      it(title .. ' adds scaled gradients, in one pass or two', function()
         local m, n = rowLayer(case), rowLayer(case)
         m:forward(x)
         m:backward(x, g, 0.5)
         m:backward(x, g, 0.5)
         n:forward(x)
         n:updateGradInput(x, g)
         n:accGradParameters(x, g, 1)
         assert.equal(0, check.distance(m.gradInput, n.gradInput))
         for _, field in ipairs{'gradWeight', 'gradBias'} do
            if m[field] then assert.is_true(check.distance(m[field], n[field]) < 1e-14) end
         end
      end)
   end
   it('of rows has one result for any number of threads, and sums many rows accurately', function()
      local before = torch.getnumthreads()
      for _, case in ipairs{{nn.LayerNorm(70), {1300, 70}}, {nn.RMSNorm(9000), {20, 9000}},
         {nn.GroupNorm(3, 12), {40, 12, 65}}, {nn.InstanceNorm(5, 1e-5, true), {700, 5, 11}}} do
         local m, x = case[1]:float(), torch.rand(torch.LongStorage(case[2])):float()
         local g = torch.rand(torch.LongStorage(case[2])):float()
         m.weight:uniform(0.5, 2)
         local results = {}
         for threads = 1, 3, 2 do
            torch.setnumthreads(threads)
            local list = {}
            for k, t in ipairs(passes(m, x, g)) do list[k] = t:clone() end
            results[#results + 1] = list
         end
         assert.equal(0, check.distance(results[1], results[2]))
         local exact = passes(m:clone():double(), x:double(), g:double())
         for k, t in ipairs(exact) do
            assert.is_true(check.distance(t, results[1][k]) < 2e-6 * (1 + t:abs():max()))
         end
      end
      torch.setnumthreads(before)
   end)
   it('of rows of a reduced type rounds the result of floats once', function()
      local places = {{'torch.FloatTensor', 'torch.HalfTensor'}}
      places[2] = {'torch.FloatTensor', 'torch.BFloat16Tensor'}
      if cutorch then places[3] = {'torch.CudaTensor', 'torch.CudaHalfTensor'} end
      for _, types in ipairs(places) do
         for _, case in ipairs{{nn.LayerNorm(24), {40, 24}}, {nn.GroupNorm(2, 4), {9, 4, 33}},
            {nn.RMSNorm{2, 7}, {5, 2, 7}}} do
            local x = torch.randn(torch.LongStorage(case[2])):type(types[2])
            local g = torch.randn(torch.LongStorage(case[2])):type(types[2])
            local floats = case[1]:clone():type(types[1])
            local wanted = passes(floats, x:type(types[1]), g:type(types[1]))
            local reduced = passes(case[1]:clone():type(types[2]), x, g)
            local floatParameters = case[1]:clone():type(types[2])
            for _, field in ipairs{'weight', 'bias', 'gradWeight', 'gradBias'} do
               local t = floatParameters[field]
               floatParameters[field] = t and t:type(types[1])
            end
            local mixed = passes(floatParameters, x, g)
            for k, t in ipairs(wanted) do
               assert.equal(0, check.distance(t:type(types[2]), reduced[k]))
               assert.equal(0, check.distance(k > 2 and t or t:type(types[2]), mixed[k]))
            end
         end
      end
   end)
   it('of rows accepts batches without rows, views and files', function()
      local m = nn.LayerNorm(3):double()
      local none = torch.DoubleTensor(0, 3)
      assert.equal(0, m:forward(none):nElement())
      assert.equal(0, m:backward(none, none):nElement())
      local x = torch.rand(3, 5):double()
      assert.equal(0, check.distance(m:forward(x:t()):clone(), m:forward(x:t():clone())))
      assert.is_nil(m:clearState().save)
      assert.equal(0, check.distance(m:forward(x:t()), m:clone():float():double():forward(x:t())))
   end)
   it('of rows names the sizes that it wants', function()
      local function fails(message, f)
         assert.error_matches(f, message, 1, true)
      end
      fails("nn.LayerNorm: argument 'input' is of size 2x4, wanted the last sizes 2x3",
         function() nn.LayerNorm{2, 3}:forward(torch.rand(2, 4)) end)
      fails("nn.RMSNorm: argument 'input' is of size 3, wanted the last sizes 2x3",
         function() nn.RMSNorm{2, 3}:forward(torch.rand(3)) end)
      fails("nn.LayerNorm: argument 'normalizedShape' is {2, 0}, wanted one or more sizes above 0",
         function() nn.LayerNorm{2, 0} end)
      fails("nn.GroupNorm: argument 'numGroups' is 3, wanted a divisor of the 4 planes",
         function() nn.GroupNorm(3, 4) end)
      fails("nn.GroupNorm: argument 'numGroups' is 1.5, wanted a divisor of the 3 planes",
         function() nn.GroupNorm(1.5, 3) end)
      fails("nn.GroupNorm: argument 'input' is of size 2x3, wanted 2 or more dimensions of which"
         .. ' the second has size 4', function() nn.GroupNorm(2, 4):forward(torch.rand(2, 3)) end)
      fails("nn.InstanceNorm: argument 'input' is of size 2x4, wanted 3 or more dimensions of which"
         .. ' the second has size 4', function() nn.InstanceNorm(4):forward(torch.rand(2, 4)) end)
      fails('nn.LayerNorm: backward wants a forward before it',
         function() nn.LayerNorm(3):backward(torch.rand(2, 3), torch.rand(2, 3)) end)
      fails("argument 'affine'", function() nn.InstanceNorm(3, 1e-5, 0.1, true) end)
      local m = nn.LayerNorm(3)
      m:forward(torch.rand(2, 3))
      fails("normalization: argument 'save'",
         function() m:backward(torch.rand(4, 3), torch.rand(4, 3)) end)
   end)
   it('of layers has its gradients (LayerNormalization)', function()
      check.module(function() return nn.LayerNormalization(5) end, random(3, 5), {tolerance = 1e-5})
   end)
   it('over maps has its gradients (SpatialCrossMapLRN)', function()
      check.module(function() return nn.SpatialCrossMapLRN(3, 0.5, 0.75, 2) end, random(2, 4, 2, 2))
   end)
   it('that is subtractive, divisive or contrastive has its gradients', function()
      local kernel = torch.ones(3, 3)
      check.module(function() return nn.SpatialSubtractiveNormalization(2, kernel) end,
         random(2, 4, 4))
      check.module(function() return nn.SpatialSubtractiveNormalization(1, torch.ones(3)) end,
         random(2, 1, 4, 4))
      check.module(function() return nn.SpatialDivisiveNormalization(2, kernel) end,
         random(2, 4, 4))
      check.module(function() return nn.SpatialContrastiveNormalization(1, kernel) end,
         random(1, 5, 5),
         {tolerance = 1e-5})
      assert.has_error(function() nn.SpatialSubtractiveNormalization(1, torch.ones(2, 2)) end)
   end)
end)

describe('Dropout', function()
   it('drops and scales in training, passes on in evaluation', function()
      local m = nn.Dropout(0.25)
      local x = torch.ones(100, 100)
      local out = m:forward(x)
      local kept = out:ne(0):sum() / 1e4
      assert.is_true(math.abs(kept - 0.75) < 0.03)
      assert.is_true(math.abs(out:max() - 1 / 0.75) < 1e-12)
      assert.are.equal(0, (m:backward(x, x) - out):abs():max())
      m:evaluate()
      assert.are.equal(1, m:forward(x):min())
   end)
   it('works without v1 and with it, in place, and on whole planes', function()
      local m = nn.Dropout(0.5, true)
      assert.are.equal(1, m:forward(torch.ones(50, 50)):max())
      m:evaluate()
      assert.are.equal(0.5, m:forward(torch.ones(50, 50)):max())
      local x = torch.ones(20, 20)
      local out = nn.Dropout(0.5, false, true):forward(x)
      assert.is_true(out:isSetTo(x))
      local sums = nn.SpatialDropout(0.5):forward(torch.ones(4, 6, 3, 3)):sum(4):sum(3)
      assert.are.equal(24, sums:eq(9):sum() + sums:eq(0):sum())
      sums = nn.VolumetricDropout(0.5):forward(torch.ones(3, 8, 2, 2, 2)):sum(5):sum(4):sum(3)
      assert.are.equal(24, sums:eq(8):sum() + sums:eq(0):sum())
   end)
   it('rejects a probability of 1 and others that are none', function()
      for _, p in ipairs{1, 1.5, -0.1, 0 / 0} do
         assert.has_error(function() nn.Dropout(p) end)
      end
   end)
   it('is like nn.WhiteNoise, which adds noise in training only', function()
      local m = nn.WhiteNoise(0, 0.5)
      local x = torch.zeros(100, 100)
      assert.is_true(math.abs(m:forward(x):std() - 0.5) < 0.05)
      m:evaluate()
      assert.are.equal(0, m:forward(x):abs():max())
   end)
end)
