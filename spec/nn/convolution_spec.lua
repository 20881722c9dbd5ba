--- Convolutions and pooling.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

-- Returns a function that returns distinct values, far enough apart that maxima do not move.
local function scattered(...)
   local size = {...}
   return function()
      local t = torch.Tensor(unpack(size))
      return t:copy(torch.randperm(t:nElement()):mul(0.1))
   end
end

describe('The convolution', function()
   for i, case in ipairs{
      {'SpatialConvolution', {2, 3, 2, 2}, {2, 4, 4}},
      {'SpatialConvolution', {2, 2, 3, 3}, {2, 2, 4, 4}},
      {'SpatialConvolution', {1, 2, 3, 2, 2, 1, 1, 0}, {1, 4, 5}},
      {'SpatialConvolution', {3, 2, 1, 1}, {2, 3, 2, 2}},
      {'SpatialConvolution', {2, 2, 3, 3, 2, 2, 1, 1}, {2, 2, 5, 5}},
      {'SpatialConvolutionMM', {2, 3, 2, 2}, {2, 2, 3, 3}},
      {'SpatialDilatedConvolution', {1, 2, 3, 3, 1, 1, 2, 2, 2, 2}, {2, 1, 4, 4}},
      {'SpatialFullConvolution', {2, 3, 2, 2}, {2, 3, 3}},
      {'SpatialFullConvolution', {2, 2, 3, 3, 2, 2, 1, 1, 1, 1}, {2, 2, 3, 2}},
      {'SpatialConvolutionLocal', {1, 2, 3, 3, 2, 2, 1, 1, 1, 1}, {2, 1, 3, 3}},
      {'SpatialDepthWiseConvolution', {2, 2, 2, 2}, {2, 3, 3}},
      {'SpatialDepthWiseConvolution', {2, 1, 3, 3, 1, 1, 1, 1}, {2, 2, 3, 3}},
      {'SpatialSubSampling', {2, 2, 2}, {2, 3, 4}},
      {'SpatialSubSampling', {2, 2, 2, 2, 2}, {2, 2, 4, 2}},
      {'VolumetricConvolution', {1, 2, 2, 2, 2}, {1, 3, 3, 3}},
      {'VolumetricConvolution', {1, 1, 2, 2, 3, 2, 1, 1, 1, 0, 1}, {1, 3, 3, 3}},
      {'VolumetricFullConvolution', {1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1}, {1, 2, 2, 2}},
      {'VolumetricDilatedConvolution', {1, 1, 2, 2, 2, 1, 1, 1, 0, 0, 0, 1, 2, 2}, {1, 2, 3, 4}},
   } do
      local name, arguments, size = case[1], case[2], case[3]
      it(('nn.%s has the gradients that differences show (case %d)'):format(name, i), function()
         check.module(function() return nn[name](unpack(arguments)) end, random(unpack(size)))
      end)
   end
   it('nn.SpatialConvolution has its gradients without a bias', function()
      check.module(function() return nn.SpatialConvolution(2, 2, 2, 2):noBias() end,
         random(2, 3, 3))
   end)
   it('by tables (SpatialConvolutionMap, SpatialFullConvolutionMap) has gradients', function()
      check.module(function() return nn.SpatialConvolutionMap(nn.tables.full(2, 3), 2, 2) end,
         random(2, 3, 4))
      check.module(function()
         return nn.SpatialConvolutionMap(torch.Tensor{{1, 1}, {2, 1}, {3, 2}}, 2, 2, 2, 2)
      end, random(3, 4, 4))
      check.module(function() return nn.SpatialFullConvolutionMap(nn.tables.full(2, 2), 2, 2) end,
         random(2, 2, 3))
   end)
   it('by a whole table is the plain convolution', function()
      local map, plain = nn.SpatialConvolutionMap(nn.tables.full(2, 3), 2, 2),
         nn.SpatialConvolution(2, 3, 2, 2)
      plain.weight:copy(map.weight:view(3, 2, 2, 2))
      plain.bias:copy(map.bias)
      local x = torch.rand(2, 4, 4)
      assert.is_true((map:forward(x) - plain:forward(x)):abs():max() < 1e-12)
   end)
   it('that is transposed is the gradient of the other', function()
      local full, plain = nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2, 1, 1):noBias(),
         nn.SpatialConvolution(3, 2, 3, 3, 2, 2, 1, 1):noBias()
      plain.weight:copy(full.weight)
      local x, y = torch.rand(1, 3, 5, 5), torch.rand(1, 2, 3, 3)
      plain:forward(x)
      assert.is_true((plain:backward(x, y) - full:forward(y)):abs():max() < 1e-12)
   end)
   it('that is transposed works after clearState, for a table or a tensor', function()
      for m, size in pairs{[nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2)] = {4, 4},
         [nn.VolumetricFullConvolution(2, 3, 3, 3, 3, 2, 2, 2)] = {4, 4, 4}} do
         local x, like = torch.rand(1, 2, unpack(size)), torch.rand(1, 1, unpack(size))
         for d = 3, like:dim() do like = torch.cat({like, like, like:narrow(d, 1, 1)}, d) end
         local wanted = m:backward(x, m:forward(x)):clone()
         for _, input in ipairs{{x, like}, {x, like}, x, x, {x, like}} do
            m:clearState()
            local g = m:backward(input, m:forward(input))
            assert.is_true(((torch.isTensor(g) and g or g[1]) - wanted):abs():max() < 1e-9)
         end
      end
   end)
   it('rejects wrong sizes with one error message', function()
      for _, case in ipairs{{nn.SpatialConvolution(2, 3, 2, 2), torch.rand(3, 4, 4)},
         {nn.SpatialConvolution(1, 1, 3, 3), torch.rand(1, 2, 2)},
         {nn.SpatialConvolution(1, 1, 1, 1), torch.rand(4, 4)},
         {nn.SpatialMaxPooling(2, 2, 1, 1, 2, 2), torch.rand(1, 4, 4)},
         {nn.SpatialMaxPooling(5, 5), torch.rand(1, 4, 4)},
         {nn.SpatialConvolution(1, 1, 1, 1), torch.FloatTensor(1, 2, 2)}} do
         local ok, why = pcall(case[1].forward, case[1], case[2])
         assert.is_false(ok)
         assert.is_nil(why:find('\n'), why)
      end
      assert.has_error(function() nn.SpatialConvolution(1, 1) end)
      assert.has_error(function() nn.SpatialFullConvolution(1, 1, 2, 2, 1, 1, 0, 0, 1, 1) end)
   end)
end)

describe('Pooling', function()
   for i, case in ipairs{
      {'SpatialMaxPooling', {2, 2, 2, 2}, {2, 4, 4}},
      {'SpatialMaxPooling', {3, 3, 2, 2, 1, 1}, {2, 2, 4, 4}},
      {'SpatialDilatedMaxPooling', {2, 2, 1, 1, 0, 0, 2, 2}, {1, 5, 5}},
      {'SpatialAveragePooling', {2, 2, 2, 2}, {2, 4, 4}},
      {'SpatialAveragePooling', {3, 3, 2, 2, 1, 1}, {1, 4, 4}},
      {'SpatialAdaptiveMaxPooling', {2, 3}, {2, 5, 5}},
      {'SpatialAdaptiveAveragePooling', {2, 3}, {2, 1, 5, 5}},
      {'SpatialLPPooling', {2, 2, 2, 2, 2, 2}, {2, 4, 4}},
      {'FeatureLPPooling', {3, 1, 2, true}, {2, 5}},
      {'TemporalMaxPooling', {2}, {6, 3}}, {'TemporalMaxPooling', {3, 1}, {2, 5, 2}},
      {'TemporalDynamicKMaxPooling', {2}, {5, 3}},
      {'TemporalDynamicKMaxPooling', {1, 0.5}, {2, 6, 2}},
      {'VolumetricMaxPooling', {2, 2, 2, 2, 2, 2}, {1, 2, 4, 4}},
      {'VolumetricDilatedMaxPooling', {2, 2, 2, 1, 1, 1, 0, 0, 0, 1, 2, 2}, {1, 2, 4, 4}},
      {'VolumetricAveragePooling', {1, 2, 2, 1, 1, 1}, {2, 1, 2, 3, 3}},
   } do
      local name, arguments, size = case[1], case[2], case[3]
      it(('by nn.%s has the gradients that differences show (case %d)'):format(name, i), function()
         check.module(function() return nn[name](unpack(arguments)) end, scattered(unpack(size)))
      end)
   end
   it('rounds sizes up by ceil and leaves padding out of the mean', function()
      check.module(function() return nn.SpatialMaxPooling(2, 2, 2, 2):ceil() end,
         scattered(1, 5, 5))
      check.module(function()
         return nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1):setCountExcludePad()
      end, scattered(1, 4, 4))
      local pool = nn.SpatialMaxPooling(2, 2, 2, 2):ceil()
      assert.are.equal(3, pool:forward(torch.rand(1, 5, 5)):size(2))
   end)
   it('stores the indices of the maxima, which unpooling uses', function()
      local pool = nn.SpatialMaxPooling(2, 2, 2, 2)
      local net = nn.Sequential():add(pool):add(nn.SpatialMaxUnpooling(pool))
      local x = torch.Tensor{{{1, 2}, {4, 3}}}
      assert.are.same({{{0, 0}, {4, 0}}}, net:forward(x):totable())
      assert.are.equal(3, pool.indices[1][1][1])
      local volume = nn.VolumetricMaxPooling(2, 2, 2)
      local back = nn.Sequential():add(volume):add(nn.VolumetricMaxUnpooling(volume))
      local y = scattered(1, 2, 4, 4)()
      assert.is_true(math.abs(volume:forward(y):sum() - back:forward(y):sum()) < 1e-9)
   end)
   it('with fractional sizes keeps its regions after fixPoolingRegions', function()
      local m = nn.SpatialFractionalMaxPooling(2, 2, 3, 3):fixPoolingRegions()
      local x = scattered(1, 2, 6, 6)()
      local first = m:forward(x):clone()
      assert.are.equal(0, (m:forward(x) - first):abs():max())
      assert.are.same({1, 2, 3, 3}, first:size():totable())
      local v = nn.VolumetricFractionalMaxPooling(2, 2, 2, 2, 2, 2)
      assert.are.same({1, 1, 2, 2, 2}, v:forward(torch.rand(1, 1, 4, 4, 4)):size():totable())
   end)
end)
