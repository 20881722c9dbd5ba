--- Layers with their own kernels, at sizes that need more than one block of threads, and in shapes
-- that kernels handle separately: devices and the host agree.
local check = require 'spec.support.jacobian'

-- All numbers are distinct, so that the largest is the same in floats and doubles.
local function shuffled(...)
   local size = torch.LongStorage{...}
   return function()
      local n = 1
      for _, k in ipairs{unpack(size:totable())} do n = n * k end
      return torch.randperm(n):mul(2 / n):add(-1):view(size)
   end
end

local function compare(title, cases)
   for i, case in ipairs(cases) do
      local name, arguments, size, options = case[1], case[2], case[3], case[4]
      it(('%s, nn.%s (case %d)'):format(title, name, i), function()
         check.devices(function()
            local m = nn[name](unpack(arguments))
            if case.change then case.change(m) end
            return m
         end, shuffled(unpack(size)), options)
      end)
   end
end

describe('Pooling of many planes', function()
   compare('equals the host', {
      {'SpatialMaxPooling', {3, 3, 2, 2, 1, 1}, {2, 5, 37, 41}},
      {'SpatialMaxPooling', {7, 7, 1, 1, 3, 3}, {2, 3, 13, 31}}, -- many windows share a maximum
      {'SpatialMaxPooling', {2, 2, 3, 3}, {300, 1, 5, 5}},
      {'SpatialDilatedMaxPooling', {3, 3, 1, 2, 1, 1, 4, 2}, {2, 2, 21, 35}},
      {'SpatialAdaptiveMaxPooling', {5, 40}, {2, 3, 33, 17}},
      {'VolumetricMaxPooling', {3, 2, 3, 2, 1, 2, 1, 0, 1}, {2, 3, 9, 11, 12}},
      {'SpatialAveragePooling', {3, 5, 2, 1, 1, 2}, {3, 4, 29, 23}},
      {'SpatialAveragePooling', {2, 2, 3, 3}, {3, 4, 29, 23}}, -- does not cover all pixels
      {'SpatialAveragePooling', {3, 3, 2, 2, 1, 1}, {2, 3, 28, 28},
         change = function(m) m:ceil():setCountExcludePad() end},
      {'SpatialAdaptiveAveragePooling', {7, 3}, {3, 4, 10, 29}},
      {'SpatialAdaptiveAveragePooling', {50, 31}, {2, 2, 10, 29}},
      {'VolumetricAveragePooling', {3, 2, 2, 2, 2, 2}, {2, 3, 9, 10, 12}},
      -- whole planes and other large windows
      {'SpatialAdaptiveMaxPooling', {1, 1}, {5, 3, 33, 17}},
      {'SpatialAdaptiveAveragePooling', {1, 1}, {5, 3, 33, 17}},
      {'SpatialMaxPooling', {9, 11, 8, 10, 4, 5}, {3, 4, 29, 43}},
      {'SpatialDilatedMaxPooling', {9, 7, 16, 12, 4, 2, 2, 3}, {3, 4, 29, 43}},
      {'SpatialAveragePooling', {9, 11, 9, 10, 4, 5}, {3, 4, 29, 43}},
   })
   it('selects the first of equal maxima, and NaN before all, in large windows', function()
      for _, size in ipairs{{2, 2}, {40, 40}} do
         local x = torch.zeros(3, unpack(size))
         x[2][{2, 2}] = 0 / 0
         x[3][{1, 2}], x[3][{2, 1}] = 5, 5
         local pool = nn.SpatialMaxPooling(size[2], size[1])
         local y = pool:forward(x)
         local device = pool:clone():cuda()
         local z = device:forward(x:cuda()):double()
         assert.are.same({1, size[2] + 2, 2}, device.indices:double():view(-1):totable())
         assert.are.same(pool.indices:totable(), device.indices:double():totable())
         assert.is_true(z[1][1][1] == 0 and z[2][1][1] ~= z[2][1][1] and z[3][1][1] == 5)
         assert.is_true(y[2][1][1] ~= y[2][1][1])
      end
   end)
   it('writes elements to the positions in idx, the last one last', function()
      local pool = nn.SpatialMaxPooling(3, 3, 1, 1, 1, 1) -- neighbours share maxima
      check.devices(function()
         return nn.Sequential():add(pool):add(nn.SpatialMaxUnpooling(pool))
      end, shuffled(2, 2, 30, 41))
   end)
   it('rejects invalid indices without a write', function()
      local pool = nn.SpatialMaxPooling(2, 2):cuda()
      local x = torch.rand(1, 4, 4):cuda()
      local g = pool:forward(x):clone():fill(1)
      pool.indices[{1, 2, 1}] = 17
      local ok, message = pcall(function() return pool:backward(x, g):sum() end)
      assert.is_false(ok)
      assert.is_truthy(message:find("'indices' has 17 at element 3, wanted 1 to 16", 1, true))
      pool.indices:fill(0)
      assert.has_error(function() return pool:backward(x, g):sum() end)
      pool:forward(x)
      assert.are.equal(4, pool:backward(x, g):sum())
   end)
end)

-- Sums of few terms, which no kernel has a reason to reorder.
describe('The gradient of', function()
   for _, case in ipairs{
      {'SpatialMaxPooling', {5, 3, 1, 2, 2, 1}, {2, 3, 23, 31}},
      {'SpatialAveragePooling', {5, 3, 1, 2, 2, 1}, {2, 3, 23, 31}},
      {'SpatialAdaptiveAveragePooling', {11, 9}, {2, 3, 10, 29}},
      {'SpatialAveragePooling', {3, 3, 2, 2, 1, 1}, {2, 3, 29, 30}},
      {'VolumetricAveragePooling', {3, 2, 2, 2, 1, 3}, {3, 9, 10, 12}},
      {'SpatialUpSamplingNearest', {3}, {2, 3, 17, 13}},
      {'SpatialUpSamplingNearest', {2}, {2, 3, 16, 1}},
      {'UpSampling', {2}, {3, 5, 3, 7}},
      {'SpatialUpSamplingBilinear', {4}, {2, 3, 17, 13}},
      {'SpatialReflectionPadding', {3, 12, 0, 16}, {2, 3, 17, 13}},
      {'SpatialReplicationPadding', {3, 20, 5, 1}, {2, 3, 17, 13}},
   } do
      it(case[1] .. ' has the host\'s bits on a device', function()
         torch.manualSeed(3)
         local host = nn[case[1]](unpack(case[2])):float()
         local device = host:clone():cuda()
         local x = torch.rand(unpack(case[3])):float()
         local g = torch.rand(host:forward(x):size()):float()
         check.close(host.output, device:forward(x:cuda()):float(), 0, 'output')
         local gradInput = device:backward(x:cuda(), g:cuda()):float()
         check.close(host:backward(x, g), gradInput, 0, 'gradInput')
      end)
   end
end)

describe('Softmax of', function()
   describe('few, many and very many classes', function()
      local cases = {}
      for _, name in ipairs{'SoftMax', 'LogSoftMax'} do
         for _, size in ipairs{{1}, {300, 1}, {70, 3}, {33, 12}, {9, 32}, {9, 250}, {5, 1000},
            {2, 9001}, {1, 16388}, {3, 5, 7}, {2, 5, 19, 23}, {2, 40, 5, 7}, {33, 70, 1, 2}} do
            cases[#cases + 1] = {name, {}, size}
         end
      end
      compare('equals the host', cases)
   end)
   it('numbers that are too large for exp, of NaN and of infinities equals the host', function()
      for _, typename in ipairs{'torch.FloatTensor', 'torch.CudaTensor'} do
         local x = torch.Tensor{{1000, 1000, -1000}, {1, 0 / 0, 2}, {0, -math.huge, 0}}
         local y = nn.SoftMax():type(typename):forward(x:type(typename)):double()
         assert.are.same({0.5, 0.5, 0}, y[1]:totable())
         assert.are.same({0.5, 0, 0.5}, y[3]:totable())
         for i = 1, 3 do assert.is_true(y[2][i] ~= y[2][i]) end
      end
   end)
end)

describe('Upsampling and padding', function()
   compare('equal the host', {
      {'SpatialUpSamplingNearest', {3}, {3, 4, 17, 13}},
      {'SpatialUpSamplingBilinear', {3}, {2, 3, 17, 13}},
      {'SpatialUpSamplingBilinear', {{oheight = 40, owidth = 5}}, {2, 3, 17, 13}},
      {'SpatialUpSamplingBilinear', {{oheight = 30, owidth = 1}}, {2, 3, 1, 9}},
      {'SpatialUpSamplingBilinear', {{oheight = 331, owidth = 3}}, {1, 1, 100, 2}},
      {'SpatialReflectionPadding', {3, 12, 0, 16}, {2, 3, 17, 13}},
      {'SpatialReplicationPadding', {3, 20, 5, 1}, {2, 3, 17, 13}},
      {'SpatialReplicationPadding', {2, 1, 0, 3}, {2, 3, 1, 1}},
      {'SpatialZeroPadding', {3, -2, -4, 1}, {2, 3, 17, 13}},
      {'SpatialZeroPadding', {2, 4, 3, 1}, {2, 3, 17, 13}},
      {'VolumetricReplicationPadding', {1, 2, 3, 1, 2, 3}, {2, 3, 5, 4, 6}},
   })
end)

describe('Normalization of', function()
   local cases, evaluated = {}, {}
   for _, size in ipairs{{5, 1}, {1300, 3}, {40, 70}, {3, 600}, {2, 1, 1, 1}, {3, 2, 3, 3},
      {40, 5, 4, 4}, {2, 3, 90, 92}, {3, 2, 51, 101}, {600, 3, 6, 6}, {2, 513, 3, 11},
      {2, 2, 5, 43, 41}} do
      local class = ({[2] = '', [4] = 'Spatial', [5] = 'Volumetric'})[#size] .. 'BatchNormalization'
      cases[#cases + 1] = {class, {size[2]}, size, {float = 1e-3}}
      evaluated[#evaluated + 1] = {class, {size[2]}, size, {float = 1e-3}, change = function(m)
         m.running_mean:copy(torch.rand(size[2]))
         m.running_var:copy(torch.rand(size[2]):add(0.5))
         m:evaluate()
      end}
      cases[#cases + 1] = {'PReLU', {size[2]}, size, {float = 1e-3}}
      cases[#cases + 1] = {'PReLU', {}, size, {float = 2e-3}}
   end
   for _, case in ipairs(evaluated) do cases[#cases + 1] = case end
   cases[#cases + 1] = {'SpatialBatchNormalization', {3, 1e-3, 0.1, false}, {2, 3, 90, 92}}
   cases[#cases + 1] = {'SpatialCrossMapLRN', {5, 0.5, 0.75, 2}, {2, 13, 17, 19}}
   cases[#cases + 1] = {'SpatialCrossMapLRN', {3, 0.5, 0.75, 1}, {3, 64, 3, 5}}
   cases[#cases + 1] = {'SpatialCrossMapLRN', {11, 0.5, 1.5, 1}, {4, 9, 3}}
   compare('many sizes equals the host', cases)
   it('a large mean does not lose a small variance', function()
      for _, size in ipairs{{3000, 2}, {2, 2, 100, 100}} do
         local x = torch.rand(unpack(size)):add(1e6)
         local class = #size == 2 and nn.BatchNormalization or nn.SpatialBatchNormalization
         local host = class(2)
         local device = host:clone():type('torch.CudaDoubleTensor')
         local y = device:forward(x:type('torch.CudaDoubleTensor'))
         check.close(host:forward(x), y:double(), 1e-8, 'output')
         check.close(host.running_var, device.running_var:double(), 1e-12, 'running_var')
      end
   end)
end)

describe('The gradient of a bias that sums many rows', function()
   compare('equals the host', {
      {'SpatialConvolution', {3, 5, 1, 1}, {3, 3, 75, 61}, {float = 1e-2, library = true}},
      {'Linear', {3, 40}, {1500, 3}, {float = 1e-2, library = true}},
   })
end)
