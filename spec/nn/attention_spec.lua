--- nn.ScaledDotProductAttention, and the layers that add positions.
local dpt = require 'dpt'
local check = require 'spec.support.jacobian'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch

local function random(...)
   local sizes = {...}
   return function()
      local list = {}
      for i, size in ipairs(sizes) do
         list[i] = torch.rand(torch.LongStorage(size)):mul(2):add(-1)
      end
      return #list > 1 and list or list[1]
   end
end

-- Returns f(step), f(2 step) ... in a tensor of a given size.
local function series(size, step, f)
   local t = torch.DoubleTensor(torch.LongStorage(size))
   t:view(-1):copy(torch.range(1, t:nElement()):double():mul(step))
   return t[f or 'sin'](t)
end

local function checksum(t)
   return t:double():reshape(t:nElement()):dot(torch.range(1, t:nElement()):double())
end

local function bias()
   local t = series({2, 1, 1, 6}, 1, 'cos')
   t[1][1][1][3] = -math.huge
   return t
end

-- Options, sizes, a function that creates the mask, and PyTorch's checksums of the output and the
-- gradients.
local CASES = {
   {{}, {{2, 3, 4}, {2, 5, 4}, {2, 5, 2}}, nil,
      {-8.328565591203908, 5.854978005431761, -0.3355769081832789, 26.47631519943839}},
   {{causal = true, scale = 0.3}, {{2, 2, 5, 4}, {2, 2, 7, 4}, {2, 2, 7, 3}}, nil,
      {297.8511952711333, 26.195333419431797, -3.026645988658972, -122.28419179571881}},
   {{}, {{1, 4, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 5}},
      function() return torch.ByteTensor{{1, 0, 1}, {0, 0, 0}, {1, 1, 0}} end,
      {72.78762127960557, 0.7010181787955752, -4.182864022012437, -112.19490612067142}},
   {{}, {{2, 2, 3, 4, 5}, {2, 2, 3, 6, 5}, {2, 2, 3, 6, 4}}, bias,
      {149.93686728547198, 1.2109147223651, 0.8207014413084721, 178.53125527855053}},
   {{}, {{4, 3}, {2, 3}, {2, 3}}, function() return torch.ByteTensor{1, 0} end,
      {55.3746268216526, 0, 0, -0.4556759683246503}},
}

local function inputOf(case)
   local input = {}
   for i, step in ipairs{1, 1.3, 0.9} do input[i] = series(case[2][i], step) end
   input[4] = case[3] and case[3]()
   return input
end

-- Attention with a mask that is not part of the input.
local Masked, parent = torch.class('nn.SpecMaskedAttention', 'nn.ScaledDotProductAttention')
local function withMask(self, input)
   local mask, typename = self.mask, input[1]:type()
   if mask and mask:type():find 'Byte' then
      typename = typename:find 'Cuda' and 'torch.CudaByteTensor' or mask:type()
   end
   return {input[1], input[2], input[3], mask and mask:type(typename)}
end
function Masked:updateOutput(input) return parent.updateOutput(self, withMask(self, input)) end
function Masked:updateGradInput(input, gradOutput)
   return parent.updateGradInput(self, withMask(self, input), gradOutput)
end

local function largest(list)
   local most = 0
   for _, t in ipairs(list) do
      if t:nElement() > 0 then most = math.max(most, torch.abs(t:double()):max()) end
   end
   return most
end

describe('nn.ScaledDotProductAttention', function()
   for i, case in ipairs(CASES) do
      it(('has the values and gradients of PyTorch (case %d)'):format(i), function()
         local m, input = nn.ScaledDotProductAttention(case[1]), inputOf(case)
         local y = m:forward(input)
         local g = series(y:size():totable(), 0.7, 'cos')
         for k, t in ipairs{y, unpack(m:backward(input, g), 1, 3)} do
            assert.near(case[4][k], checksum(t), 1e-11 * (1 + math.abs(case[4][k])))
         end
         if input[4] then
            assert.equal(0, m.gradInput[4]:nElement())
            assert.equal(input[4]:type(), m.gradInput[4]:type())
         end
      end)
      it(('has the gradients that differences show (case %d)'):format(i), function()
         Masked.mask = case[3] and case[3]()
         check.module(function() return nn.SpecMaskedAttention(case[1]) end,
            random(unpack(case[2])))
      end)
   end

   it('computes each sample of leading sizes, whatever their strides, as one alone', function()
      local m, one = nn.ScaledDotProductAttention{causal = true}, nn.ScaledDotProductAttention{
         causal = true}
      local input = random({3, 2, 5, 2, 4}, {3, 2, 6, 2, 4}, {3, 2, 6, 2, 3})()
      for i = 1, 3 do input[i] = input[i]:transpose(3, 4) end
      for _, swapped in ipairs{false, true} do -- swapped leading sizes cannot be one dimension
         if swapped then for i = 1, 3 do input[i] = input[i]:transpose(1, 2) end end
         local y = m:forward(input)
         local g = m:backward(input, y)
         for a = 1, y:size(1) do
            for b = 1, y:size(2) do
               local own = {input[1][a][b]:clone(), input[2][a][b]:clone(), input[3][a][b]:clone()}
               for i = 1, 3 do own[i] = own[i]:view(1, unpack(own[i]:size():totable())) end
               assert.equal(0, check.distance(one:forward(own)[1], y[a][b]))
               for i, t in ipairs(one:backward(own, one.output)) do
                  assert.equal(0, check.distance(t[1], g[i][a][b]))
               end
            end
         end
      end
   end)

   it('broadcasts masks of every shape', function()
      local m = nn.ScaledDotProductAttention()
      local q, k, v = unpack(random({2, 3, 2, 4, 3}, {2, 3, 2, 5, 3}, {2, 3, 2, 5, 2})())
      for _, size in ipairs{{5}, {1}, {4, 1}, {4, 5}, {2, 4, 5}, {2, 1, 5}, {3, 1, 4, 5},
         {1, 1, 1, 5}, {2, 1, 2, 1, 5}, {2, 3, 2, 4, 5}, {1, 3, 1, 1, 1}} do
         local full = {2, 3, 2, 4, 5}
         local mask = torch.rand(torch.LongStorage(size)):gt(0.4)
         for _, t in ipairs{mask, mask:double():log()} do -- 0 or -inf
            local _, whole = torch.broadcast(torch.Tensor(torch.LongStorage(full)), t)
            local y = m:forward{q, k, v, t}:clone()
            assert.equal(0, check.distance(m:forward{q, k, v, whole:contiguous()}, y))
         end
         local y = m:forward{q, k, v, mask}:clone()
         assert.equal(0, check.distance(m:forward{q, k, v, mask:double():log()}, y))
      end
   end)

   it('has zeros for queries without keys, and NaN only where an input has it', function()
      local m = nn.ScaledDotProductAttention()
      local q, k, v = torch.rand(1, 2, 3), torch.rand(1, 4, 3), torch.rand(1, 4, 3)
      for _, mask in ipairs{torch.ByteTensor{{0, 0, 0, 0}, {1, 0, 1, 1}},
         torch.Tensor{{0, 0, 0, 0}, {1, 0, 1, 1}}:log()} do
         local y = m:forward{q, k, v, mask}
         assert.equal(0, torch.abs(y[1][1]):max())
         assert.is_true(y[1][2]:min() > 0)
         local g = m:backward({q, k, v, mask}, torch.ones(1, 2, 3))
         assert.equal(0, torch.abs(g[1][1][1]):max())
         assert.equal(0, torch.abs(g[2][1][2]):max())
         assert.is_true(largest(g) < 10)
      end
      q[1][2][1] = 0 / 0
      local y = m:forward{q, k, v}
      assert.is_true(y[1][1]:eq(y[1][1]):all())
      assert.is_false(y[1][2]:eq(y[1][2]):any())
   end)

   it('accepts no rows, no keys and no samples', function()
      local m = nn.ScaledDotProductAttention{causal = true}
      for _, sizes in ipairs{{2, 0, 4}, {2, 3, 0}, {2, 0, 0}, {0, 3, 4}} do
         local N, L, S = unpack(sizes)
         local input = {torch.ones(N, L, 5), torch.ones(N, S, 5), torch.ones(N, S, 2)}
         local y = m:forward(input)
         assert.same({N, L, 2}, y:size():totable())
         assert.equal(0, S == 0 and largest{y} or 0)
         for i, g in ipairs(m:backward(input, y)) do
            assert.same(input[i]:size():totable(), g:size():totable())
            assert.equal(0, largest{g})
         end
      end
   end)

   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
      it('draws new weights to drop in each forward of training, ' .. typename, function()
         local m = nn.ScaledDotProductAttention{dropout = 0.25}:type(typename)
         local input = {torch.rand(2, 2, 30, 4):type(typename),
            torch.rand(2, 2, 40, 4):type(typename), torch.rand(2, 2, 40, 3):type(typename)}
         local plain = nn.ScaledDotProductAttention():type(typename):forward(input)
         local function seed()
            torch.manualSeed(5)
            cutorch.manualSeed(5)
         end
         seed()
         local y = m:forward(input):clone()
         -- the output is linear in v: backward uses the weights of this forward
         local g = torch.rand(2, 2, 30, 3):type(typename)
         assert.near(y:dot(g), m:backward(input, g)[3]:dot(input[3]), 1e-9)
         assert.is_true(check.distance(y, plain) > 0.01)
         assert.is_true(math.abs(y:mean() / plain:mean() - 1) < 0.1)
         assert.is_true(check.distance(m:forward(input), y) > 0.01)
         seed()
         assert.equal(0, check.distance(m:forward(input), y))
         m:evaluate()
         assert.equal(0, check.distance(m:forward(input), plain))
      end)
   end

   it('rounds floats once for reduced types', function()
      local input = random({2, 2, 9, 16}, {2, 1, 20, 16}, {2, 1, 20, 8})()
      local precision = {['torch.HalfTensor'] = 2^-11, ['torch.BFloat16Tensor'] = 2^-8}
      for typename, epsilon in pairs(precision) do
         local m = nn.ScaledDotProductAttention{causal = true}:type(typename)
         local reduced, exact = {}, {}
         for i, t in ipairs(input) do
            reduced[i] = t:type(typename)
            exact[i] = reduced[i]:float()
         end
         local f = nn.ScaledDotProductAttention{causal = true}:float()
         local y, g = m:forward(reduced), torch.rand(2, 2, 9, 8):type(typename)
         assert.is_true(check.distance(y, f:forward(exact)) <= epsilon)
         m:backward(reduced, g)
         f:backward(exact, g:float())
         for i = 1, 3 do
            local most = torch.abs(f.gradInput[i]):max()
            assert.is_true(check.distance(m.gradInput[i], f.gradInput[i]) <= 2 * epsilon * most)
         end
      end
   end)

   it('has the results of one device on several, with a mask and dropout', function()
      local devices = cutorch.getDeviceCount()
      local many = {}
      for i = 1, devices do many[i] = i end
      local input = random({7, 2, 5, 4}, {7, 1, 6, 4}, {7, 1, 6, 3})()
      for i = 1, 3 do input[i] = input[i]:cuda() end
      for _, size in ipairs{{5, 6}, {1, 2, 5, 6}, {7, 1, 1, 6}} do
         input[4] = torch.rand(torch.LongStorage(size)):gt(0.3):type 'torch.CudaByteTensor'
         local one = nn.ScaledDotProductAttention{dropout = 0.3}:cuda()
         local table = nn.DataParallelTable(1):add(one:clone(), many)
         cutorch.manualSeed(3)
         local y = one:forward(input)
         local g = one:backward(input, y)
         cutorch.manualSeed(3)
         assert.is_true(check.distance(table:forward(input), y) < 1e-6)
         local gs = table:backward(input, y)
         for i = 1, 3 do assert.is_true(check.distance(gs[i], g[i]) < 1e-5) end
      end
   end)

   it('says which argument does not fit', function()
      local function fails(pattern, options, ...)
         local sizes = {...}
         assert.error_matches(function()
            local m = nn.ScaledDotProductAttention(options)
            for i, size in ipairs(sizes) do
               sizes[i] = type(size) == 'table' and torch.rand(torch.LongStorage(size)) or size
            end
            m:forward(sizes)
         end, pattern)
      end
      fails('there is no option is_causal, wanted causal, dropout or scale', {is_causal = true})
      fails('option dropout wants a probability from 0 on and below 1, got 1', {dropout = 1})
      fails("option causal wants true or false, got 'yes'", {causal = 'yes'})
      fails('option scale wants a finite number, got inf', {scale = math.huge})
      fails('wanted a table {query, key, value} or .* got a nil as entry 3', nil, {2, 3}, {2, 3})
      fails("argument 'query' is of size 3, wanted at least two dimensions", nil, {3}, {3}, {3})
      fails("argument 'key' is of size 2x4x3, wanted 2 dimensions, as the query has", nil, {4, 3},
         {2, 4, 3}, {2, 4, 3})
      fails("argument 'key' is of size 3x2x1x4x3, wanted size 2 in dimension 1, as the query has",
         nil, {2, 3, 1, 4, 3}, {3, 2, 1, 4, 3}, {3, 2, 1, 4, 3})
      fails("argument 'key' has 3 heads, wanted a divisor of the query's 4", nil, {1, 4, 2, 3},
         {1, 3, 2, 3}, {1, 3, 2, 3})
      fails("argument 'mask' is of size 1x1x2x2, wanted 1 to 3 dimensions", nil, {1, 2, 3},
         {1, 2, 3}, {1, 2, 3}, {1, 1, 2, 2})
      fails("argument 'mask' is a torch.DoubleTensor of size 1x1x3x2, wanted 2 or 1 as size 3", nil,
         {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {3, 2})
      local m = nn.ScaledDotProductAttention()
      local x = torch.rand(1, 2, 3)
      assert.error_matches(function() m:backward({x, x, x}, x) end,
         'nn.ScaledDotProductAttention: backward wants a forward before it')
   end)

   it('and its positions reject a sample whose positions would be split among devices', function()
      local x = torch.rand(2, 4):cuda()
      for name, case in pairs{query = {nn.ScaledDotProductAttention(), {x, x, x}},
         input = {nn.PositionEmbedding(3, 4), x}, ['input '] = {nn.RotaryEmbedding(4), x},
         ['query '] = {nn.MultiheadAttention(4, 1), x}} do
         assert.error_matches(function()
            nn.DataParallelTable(1):add(case[1]:cuda(), {1}):forward(case[2])
         end, "argument '" .. name:match '%w+' .. "' is of size 2x4: a batch is split, wanted")
      end
   end)
end)

describe('nn.RotaryEmbedding', function()
   it('rotates pairs by angles that grow with the position', function()
      local x = random{2, 3, 4}()
      for _, interleaved in ipairs{false, true} do
         local y = nn.RotaryEmbedding(4, 100, interleaved):forward(x)
         for n = 1, 2 do
            for p = 0, 2 do
               for i = 0, 1 do
                  local a, b = i + 1, i + 3
                  if interleaved then a, b = 2 * i + 1, 2 * i + 2 end
                  local angle, row = p * 100^(-i / 2), x[n][p + 1]
                  local c, s = math.cos(angle), math.sin(angle)
                  assert.near(row[a] * c - row[b] * s, y[n][p + 1][a], 1e-14)
                  assert.near(row[b] * c + row[a] * s, y[n][p + 1][b], 1e-14)
               end
            end
         end
      end
   end)

   it('has the gradients that differences show', function()
      check.module(function() return nn.RotaryEmbedding(4) end, random{2, 3, 4})
      check.module(function() return nn.RotaryEmbedding(6, 50, true) end, random{3, 6})
   end)

   it('keeps norms, and products of rows at one distance', function()
      local m = nn.RotaryEmbedding(8)
      local row = torch.rand(1, 8):expand(200, 8) -- more positions than the first table
      local y = m:forward(row)
      for p = 1, 180, 20 do
         assert.near(row[1]:norm(), y[p]:norm(), 1e-12)
         assert.near(y[1]:dot(y[11]), y[p]:dot(y[p + 10]), 1e-12)
      end
      assert.equal(0, check.distance(m:forward(row:narrow(1, 1, 5)), y:narrow(1, 1, 5)))
   end)

   it('rounds floats once for reduced types', function()
      for _, typename in ipairs{'torch.HalfTensor', 'torch.BFloat16Tensor', 'torch.CudaHalfTensor',
         'torch.CudaBFloat16Tensor'} do
         for _, interleaved in ipairs{false, true} do
            local m = nn.RotaryEmbedding(8, 100, interleaved)
            local x = random{3, 70, 8}():type(typename)
            local wide = typename:find 'Cuda' and 'torch.CudaTensor' or 'torch.FloatTensor'
            local f = m:clone():type(wide)
            m:type(typename)
            assert.equal(typename, m:forward(x):type())
            assert.is_true(m.output:equal(f:forward(x:type(wide)):type(typename)))
            assert.is_true(m:backward(x, x):equal(f:backward(x:type(wide), x:type(wide))
               :type(typename)))
         end
      end
   end)

   it('and learned positions reject integers', function()
      for _, module in ipairs{nn.RotaryEmbedding(4), nn.PositionEmbedding(3, 4)} do
         assert.error_matches(function() module:forward(torch.LongTensor(2, 4):zero()) end,
            torch.type(module) .. ": argument 'input' is a torch.LongTensor, wanted a tensor")
      end
   end)

   it('rejects odd sizes', function()
      assert.error_matches(function() nn.RotaryEmbedding(3) end,
         "nn.RotaryEmbedding: argument 'dim' is 3, wanted an even number above 0")
      assert.error_matches(function() nn.RotaryEmbedding(4, 0) end,
         "argument 'base' is 0, wanted a number above 0")
      assert.error_matches(function() nn.RotaryEmbedding(4):forward(torch.rand(2, 6)) end,
         "argument 'input' is of size 2x6, wanted ... x L x 4")
   end)

   it('and learned positions reject a gradient with fewer elements than the input', function()
      local x = torch.rand(2, 3, 4)
      for _, module in ipairs{nn.RotaryEmbedding(4), nn.PositionEmbedding(3, 4)} do
         module:forward(x)
         for _, g in ipairs{torch.rand(1, 3, 4), torch.rand(2, 3, 3)} do
            assert.error_matches(function() module:backward(x, g) end,
               torch.type(module) .. ": argument 'gradOutput' is a .*, wanted 24 elements")
         end
      end
   end)
end)

describe('nn.PositionEmbedding', function()
   it('adds a row of the weight to each position of a batch', function()
      local m, x = nn.PositionEmbedding(5, 2), torch.rand(3, 4, 2)
      local y = m:forward(x)
      for n = 1, 3 do
         for p = 1, 4 do assert.equal(0, check.distance(y[n][p], x[n][p] + m.weight[p])) end
      end
      local g = torch.rand(3, 4, 2)
      m:zeroGradParameters()
      assert.equal(0, check.distance(m:backward(x, g, 0.5), g))
      assert.is_true(check.distance(m.gradWeight:narrow(1, 1, 4), g:sum(1)[1]:mul(0.5)) < 1e-15)
      assert.equal(0, torch.abs(m.gradWeight[5]):max())
   end)

   it('has the gradients that differences show', function()
      check.module(function() return nn.PositionEmbedding(4, 3) end, random{2, 4, 3})
      check.module(function() return nn.PositionEmbedding(4, 3) end, random{3, 3})
   end)

   it('rejects more positions than it has', function()
      assert.error_matches(function() nn.PositionEmbedding(3, 2):forward(torch.rand(1, 4, 2)) end,
         "argument 'input' has 4 positions, wanted at most 3, numPositions")
      assert.error_matches(function() nn.PositionEmbedding(3, 2):forward(torch.rand(1, 2, 4)) end,
         "argument 'input' is of size 1x2x4, wanted N x L x 2")
   end)

   it('wants counts', function()
      for name, case in pairs{numPositions = {1.5, 2}, dim = {3, -1}} do
         assert.error_matches(function() nn.PositionEmbedding(case[1], case[2]) end,
            "nn.PositionEmbedding: argument '" .. name .. "' is .*, wanted a number from 1 on")
      end
   end)
end)
