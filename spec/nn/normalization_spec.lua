--- Batch normalization and its relatives, dropout.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
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
