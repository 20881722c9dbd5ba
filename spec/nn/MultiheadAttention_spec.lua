--- nn.MultiheadAttention, and the cache of past positions for sampling.
local dpt = require 'dpt'
local check = require 'spec.support.jacobian'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch

local function series(size, step, f)
   local t = torch.DoubleTensor(torch.LongStorage(size))
   t:view(-1):copy(torch.range(1, t:nElement()):double():mul(step))
   return t[f or 'sin'](t)
end

local function checksum(t)
   return t:reshape(t:nElement()):dot(torch.range(1, t:nElement()))
end

local function random(...) return torch.rand(...):mul(2):add(-1) end

-- Arguments, sizes of the inputs, a function that creates masks, and PyTorch's checksums of the
-- output, the gradients of the inputs and those of the weights, by name.
local CASES = {
   {{6, 3}, {{4, 2, 6}}, nil, {271.41195282576786, -6.49419250383931, 7.840449382224216,
      3.6541766573588674, -6.85680839465104, -68.99130060652385}},
   {{4, 2, {batchFirst = true, bias = false, causal = true}}, {{2, 5, 4}}, nil,
      {-5.397635455342947, 1.219318002106505, 8.608237909221195, -3.701164250160555}},
   {{6, 2, {kdim = 4, vdim = 5}}, {{3, 2, 6}, {4, 2, 4}, {4, 2, 5}}, function()
      return torch.ByteTensor{{0, 0, 0, 1}, {0, 1, 0, 0}}, series({4, 3, 4}, 1, 'cos')
   end, {151.04120413013936, 1.4009272310113605, 0.38028811176424787, 0.19705578354150477,
      -0.16076075654078137, -9.368536633620113, 0.20358338158141792, -16.126459365462257,
      0.11295243244711095, 8.114646774861779}},
   {{4, 4}, {{3, 2, 4}, {5, 2, 4}}, nil, {109.72750943179751, 1.0664691585124297,
      -5.97080361423822, 5.277763169173508, 10.154022636057825, -6.460831383532358,
      47.15276284296992}},
}

-- Returns the gradients of the weights by PyTorch's names.
local function gradientsOf(m)
   local copy = m:clone()
   local _, gradients = m:parameters()
   for i, t in ipairs((copy:parameters())) do t:copy(gradients[i]) end
   return nn.safetensors.tensors(copy)
end

local function namesOf(tensors)
   local names = {}
   for name in pairs(tensors) do names[#names + 1] = name end
   table.sort(names)
   return names
end

-- Returns a module with the weights of CASES.
local function made(case)
   local m = nn.MultiheadAttention(unpack(case[1]))
   local weights = nn.safetensors.tensors(m)
   for i, name in ipairs(namesOf(weights)) do
      weights[name] = series(weights[name]:size():totable(), 0.4 + 0.1 * i):mul(0.5)
   end
   return nn.safetensors.fill(m, weights)
end

local function passes(m, input, gradOutput)
   m:zeroGradParameters()
   local y = m:forward(input):clone()
   return y, m:backward(input, gradOutput or y), m
end

local function sameResults(a, b, tolerance)
   local _, one = a:parameters()
   local _, other = b:parameters()
   for i = 1, #one do assert.is_true(check.distance(one[i], other[i]) <= tolerance) end
end

describe('nn.MultiheadAttention', function()
   for i, case in ipairs(CASES) do
      it(('has the values, gradients and names of PyTorch (case %d)'):format(i), function()
         local m, input = made(case), {}
         for k, size in ipairs(case[2]) do input[k] = series(size, 0.7 + 0.3 * k) end
         local given = #input == 1 and input[1] or {input[1], input[2], input[3] or input[2]}
         if case[3] then given[4], given[5] = case[3]() end
         local y = m:forward(given)
         local results = {y}
         m:zeroGradParameters()
         local g = m:backward(given, series(y:size():totable(), 0.7, 'cos'))
         if #input == 1 then g = {g} elseif #input == 2 then g = {g[1], g[2] + g[3]} end
         for k = 1, #input do results[#results + 1] = g[k] end
         local gradients = gradientsOf(m)
         for _, name in ipairs(namesOf(gradients)) do results[#results + 1] = gradients[name] end
         assert.equal(#case[4], #results)
         for k, t in ipairs(results) do
            assert.near(case[4][k], checksum(t), 1e-11 * (1 + math.abs(case[4][k])))
         end
      end)
   end

   for title, case in pairs{
      ['causal, without biases'] = {{4, 2, {causal = true, bias = false}}, {3, 2, 4}},
      ['with rotated, grouped heads'] = {{8, 4, {batchFirst = true, rotary = 50, numKvHeads = 2}},
         {2, 3, 8}},
      ['without a batch'] = {{4, 2, {batchFirst = true}}, {3, 4}},
      ['of keys of other sizes'] = {{4, 2, {kdim = 3, vdim = 5, numKvHeads = 1}}, {3, 2, 4},
         {4, 2, 3}, {4, 2, 5}},
      ['of other keys'] = {{4, 1}, {3, 2, 4}, {2, 2, 4}, {2, 2, 4}},
   } do
      it('has the gradients that differences show, ' .. title, function()
         check.module(function() return nn.MultiheadAttention(unpack(case[1])) end, function()
            local list = {}
            for k = 2, #case do list[k - 1] = random(unpack(case[k])) end
            return #list > 1 and list or list[1]
         end)
      end)
   end

   it('is attention between projections', function()
      local m = nn.MultiheadAttention(12, 3, {numKvHeads = 1, rotary = true, causal = true,
         batchFirst = true})
      local x = random(2, 5, 12)
      local y, gradInput = passes(m, x)
      local weight, bias = m:get(1).weight, m:get(1).bias
      local function projection(first, heads)
         local linear = nn.Linear(12, heads * 4)
         linear.weight:copy(weight:narrow(1, first, heads * 4))
         linear.bias:copy(bias:narrow(1, first, heads * 4))
         return nn.Sequential():add(linear):add(nn.View(2, 5, heads, 4)):add(nn.Transpose{2, 3})
      end
      local net = nn.Sequential()
         :add(nn.ConcatTable():add(projection(1, 3):add(nn.RotaryEmbedding(4)))
            :add(projection(13, 1):add(nn.RotaryEmbedding(4))):add(projection(17, 1)))
         :add(nn.ScaledDotProductAttention{causal = true}):add(nn.Transpose{2, 3})
         :add(nn.View(2, 5, 12)):add(m:get(2):clone())
      local expected, gradient = passes(net, x, y)
      assert.is_true(check.distance(expected, y) < 1e-13)
      assert.is_true(check.distance(gradient, gradInput) < 1e-13)
   end)

   it('has one result for self-attention, whatever the form of its input', function()
      local m = nn.MultiheadAttention(6, 2)
      local x = random(4, 3, 6)
      local y, g = passes(m, x)
      g = g:clone()
      local _, gradients = m:parameters()
      for i, t in ipairs(gradients) do gradients[i] = t:clone() end
      for _, input in ipairs{{x, x, x}, {x, x:clone(), x:clone()}, {x, x.new(x), x.new(x)},
         {x:clone(), x, x}} do
         local other, list = passes(m, input, y)
         assert.is_true(check.distance(other, y) < 1e-14)
         assert.is_true(check.distance(list[1] + list[2] + list[3], g) < 1e-13)
         local _, new = m:parameters()
         for i, t in ipairs(new) do assert.is_true(check.distance(t, gradients[i]) < 1e-12) end
      end
      passes(m, x, y)
      m:zeroGradParameters()
      m:forward(x)
      m:accGradParameters(x, y, 1)
      local _, alone = m:parameters()
      for i, t in ipairs(alone) do assert.is_true(check.distance(t, gradients[i]) < 1e-12) end
   end)

   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
      it('adds the gradients of the gradOutput that accGradParameters gets, ' .. typename,
         function()
            local m = nn.MultiheadAttention(6, 2):type(typename)
            local x, g = random(4, 3, 6):type(typename), random(4, 3, 6):type(typename)
            local h = torch.mul(g, 2)
            passes(m, x, h)
            local wanted = m:clone()
            for _, change in ipairs{function() return h end, function() return g:mul(2) end} do
               m:zeroGradParameters()
               m:forward(x)
               m:updateGradInput(x, g)
               m:accGradParameters(x, change())
               sameResults(m, wanted, 0)
            end
         end)
   end

   it('computes the gradients of attention once for both halves of backward', function()
      local attention = require 'dpt.nn.attention'
      local count, plain = 0, attention.backward
      finally(function() attention.backward = plain end)
      function attention.backward(...)
         count = count + 1
         return plain(...)
      end
      local m, x = nn.MultiheadAttention(4, 2), random(3, 2, 4)
      local g = random(2, 3, 4):transpose(1, 2)
      m:forward(x)
      m:backward(x, g)
      assert.equal(1, count)
      g:mul(2)
      m:updateGradInput(x, g)
      m:accGradParameters(x, g)
      assert.equal(2, count)
   end)

   it('excludes the keys that masks mark, of every form', function()
      local m = nn.MultiheadAttention(4, 2)
      local x, S = random(3, 2, 4), 5
      local k = random(S, 2, 4)
      local padding = torch.ByteTensor{{0, 0, 1, 0, 1}, {1, 0, 0, 0, 0}}
      local mask = torch.ByteTensor{{0, 1, 0, 0, 0}, {0, 0, 0, 1, 0}, {1, 1, 0, 0, 0}}
      local whole = torch.ByteTensor(2, 2, 3, S)
      for n = 1, 2 do
         for h = 1, 2 do
            for i = 1, 3 do whole[n][h][i]:copy(torch.add(padding[n], mask[i]):gt(0)) end
         end
      end
      local function numbers(t) return torch.zeros(t:size()):maskedFill(t, -math.huge) end
      local expected = m:forward{x, k, k, nil, whole}:clone()
      for _, masks in ipairs{{padding, mask}, {numbers(padding), mask}, {padding, numbers(mask)},
         {numbers(padding), numbers(mask)}, {nil, numbers(whole)}, {nil, whole:view(4, 3, S)},
         {padding, whole:view(4, 3, S)}} do
         assert.is_true(check.distance(m:forward{x, k, k, masks[1], masks[2]}, expected) < 1e-14)
      end
      local g = m:backward({x, k, k, padding, numbers(mask)}, expected)
      assert.equal(0, g[4]:nElement() + g[5]:nElement())
      assert.equal('torch.ByteTensor', g[4]:type())
      -- without a batch
      local one = m:forward{x:select(2, 1), k:select(2, 1), k:select(2, 1), padding[1], mask}
      assert.is_true(check.distance(one, expected:select(2, 1)) < 1e-14)
   end)

   it('returns the bias of the output for queries without keys', function()
      local m = nn.MultiheadAttention(4, 2)
      m:get(2).bias:copy(torch.Tensor{1, 2, 3, 4})
      local x = random(2, 1, 4)
      local y = m:forward{x, x, x, torch.ByteTensor{{1, 1}}}
      assert.same({1, 2, 3, 4}, y[1][1]:totable())
      m:zeroGradParameters()
      local g = m:backward({x, x, x, torch.ByteTensor{{1, 1}}}, y)
      for i = 1, 3 do assert.equal(0, torch.abs(g[i]):max()) end
      assert.equal(0, torch.abs(m:get(1).gradWeight):max())
   end)

   it('accepts no samples, no queries and no keys', function()
      local m = nn.MultiheadAttention(4, 2, {batchFirst = true, rotary = true})
      m:get(2).bias:fill(2)
      for _, sizes in ipairs{{0, 3, 3}, {2, 0, 3}, {2, 3, 0}} do
         local N, L, S = unpack(sizes)
         local input = {torch.ones(N, L, 4), torch.ones(N, S, 4), torch.ones(N, S, 4)}
         local y, g = passes(m, input)
         assert.same({N, L, 4}, y:size():totable())
         if S == 0 then assert.equal(0, torch.add(y, -2):abs():max()) end
         for i, t in ipairs(input) do
            assert.same(t:size():totable(), g[i]:size():totable())
            if t:nElement() > 0 then assert.equal(0, torch.abs(g[i]):max()) end
         end
      end
   end)

   it('draws weights as PyTorch does', function()
      local m = nn.MultiheadAttention(30, 3, {numKvHeads = 1})
      local bounds = {math.sqrt(6 / (50 + 30)), 1 / math.sqrt(30)}
      for i, bound in ipairs(bounds) do
         local weight = m:get(i).weight
         assert.is_true(torch.abs(weight):max() <= bound)
         assert.is_true(torch.abs(weight):max() > 0.97 * bound)
         assert.equal(0, torch.abs(m:get(i).bias):max())
      end
      assert.same({50, 30}, m:get(1).weight:size():totable())
   end)

   it('exchanges weights with PyTorch under its names', function()
      local net = nn.Sequential():add(nn.LayerNorm(4)):add(nn.MultiheadAttention(4, 2)):add(
         nn.MultiheadAttention(4, 1, {kdim = 3, bias = false}))
      assert.same({'0.bias', '0.weight', '1.in_proj_bias', '1.in_proj_weight', '1.out_proj.bias',
         '1.out_proj.weight', '2.k_proj_weight', '2.out_proj.weight', '2.q_proj_weight',
         '2.v_proj_weight'}, namesOf(nn.safetensors.tensors(net)))
      local names = {'ln', 'h.attn', 'h.cross'}
      local other = net:clone()
      other:reset(0.5)
      nn.safetensors.fill(other, nn.safetensors.tensors(net, names), names)
      local a, b = net:parameters(), other:parameters()
      for i = 1, #a do assert.equal(0, check.distance(a[i], b[i])) end
      local m = nn.MultiheadAttention(4, 2, {kdim = 3, vdim = 5})
      local tensors = nn.safetensors.tensors(m)
      tensors.in_proj_bias = torch.range(1, 12)
      nn.safetensors.fill(m, tensors)
      assert.same({5, 6, 7, 8}, m:get(2).bias:totable())
   end)

   it('exchanges biases of some projections only', function()
      local m = nn.MultiheadAttention(4, 2)
      m:get(2):noBias()
      assert.same({'in_proj_bias', 'in_proj_weight', 'out_proj.weight'},
         namesOf(nn.safetensors.tensors(m)))
      m = nn.MultiheadAttention(4, 2)
      m:get(1):noBias()
      assert.same({'in_proj_weight', 'out_proj.bias', 'out_proj.weight'},
         namesOf(nn.safetensors.tensors(m)))
      m = nn.MultiheadAttention(4, 2, {kdim = 3})
      m:get(1):noBias()
      assert.error_matches(function() nn.safetensors.tensors(m) end,
         'an nn.MultiheadAttention with a bias in 2 of 3 projections, wanted all or none')
   end)

   for _, batchFirst in ipairs{true, false} do
      it('has the results of one device on several' .. (batchFirst and ', batch first' or ''),
         function()
            local devices = {}
            for i = 1, cutorch.getDeviceCount() do devices[i] = i end
            local one = nn.MultiheadAttention(8, 2, {batchFirst = batchFirst, dropout = 0.4,
               causal = true}):cuda()
            local many = nn.DataParallelTable(1, true):add(one:clone(), devices)
            local x = batchFirst and random(7, 5, 8):cuda() or random(5, 7, 8):cuda()
            local padding = torch.rand(7, 5):gt(0.8):type 'torch.CudaByteTensor'
            local mask = torch.rand(5, 5):gt(0.8):type 'torch.CudaByteTensor'
            local whole = torch.rand(7, 2, 5, 5):gt(0.8):type 'torch.CudaByteTensor'
            for _, input in ipairs{x, {x, x, x, padding, mask}, {x, x, x, nil, whole}} do
               cutorch.manualSeed(3)
               local y, g = passes(one, input)
               cutorch.manualSeed(3)
               local ys, gs = passes(many, input, y)
               assert.is_true(check.distance(ys, y) < 1e-5)
               assert.is_true(check.distance(gs, g) < 1e-4)
               sameResults(one, many, 1e-4)
            end
            dpt.setDeterministic(true)
            finally(function() dpt.setDeterministic(false) end)
            cutorch.manualSeed(4)
            local y, g = passes(one, x)
            cutorch.manualSeed(4)
            local ys, gs = passes(many, x, y)
            assert.equal(0, check.distance({ys, gs}, {y, g}))
            if #devices > 1 then
               assert.error_matches(function()
                  many:forward{x, x, x, nil, whole:view(14, 5, 5)}
               end, "argument 'attnMask' is of size 14x5x5: for %d+ devices, wanted L x S or N x")
            end
         end)
   end

   it('says which argument does not fit', function()
      local function fails(pattern, f) assert.error_matches(f, pattern) end
      local function constructs(pattern, ...)
         local arguments = {...}
         fails('^[^\n]*nn.MultiheadAttention: ' .. pattern,
            function() nn.MultiheadAttention(unpack(arguments)) end)
      end
      constructs("argument 'numHeads' is 3, wanted a divisor of embedDim, 8", 8, 3)
      constructs("argument 'numHeads' is 0, wanted a divisor", 8, 0)
      constructs("argument 'numKvHeads' is 3, wanted a divisor of numHeads, 4", 8, 4,
         {numKvHeads = 3})
      constructs('option rotary wants heads with an even number of features, got 3', 6, 2,
         {rotary = true})
      constructs('option dropout wants a probability from 0 on and below 1, got 1', 8, 2,
         {dropout = 1})
      constructs('there is no option batch_first, wanted batchFirst, bias', 8, 2,
         {batch_first = true})
      local m = nn.MultiheadAttention(4, 2, {kdim = 3})
      local function forwards(pattern, input)
         fails('nn.MultiheadAttention: ' .. pattern, function() m:forward(input) end)
      end
      local x, k, v = random(2, 3, 4), random(5, 3, 3), random(5, 3, 4)
      forwards("argument 'key' is of size 2x3x4, wanted S x N x 3", x)
      forwards("argument 'query' is of size 2x3x5, wanted L x N x 4", {random(2, 3, 5), k, v})
      forwards("argument 'query' is of size 4, wanted L x N x 4", {random(4), k, v})
      forwards("argument 'key' is of size 5x3, wanted S x N x 3", {x, random(5, 3), v})
      forwards("argument 'key' is of size 5x2x3, wanted a batch of 3", {x, random(5, 2, 3), v})
      forwards("argument 'value' is of size 4x3x4, wanted 5 in dimension 1, as the key has",
         {x, k, random(4, 3, 4)})
      forwards("argument 'input': wanted a tensor or a table .* got a nil as entry 3", {x, k})
      forwards("argument 'keyPaddingMask' is of size 5x3, wanted N x S, 3 x 5",
         {x, k, v, torch.ByteTensor(5, 3)})
      forwards("argument 'attnMask' is of size 5x2, wanted L x S, .*: 2x5, 3x2x2x5 or 6x2x5",
         {x, k, v, nil, torch.ByteTensor(5, 2)})
      forwards("argument 'attnMask' is a boolean, wanted", {x, k, v, nil, true})
      local longs = torch.LongTensor(3, 5)
      forwards("argument 'keyPaddingMask' is a torch.LongTensor, wanted a ByteTensor or a",
         {x, k, v, longs})
      forwards("argument 'attnMask' is a torch.LongTensor, wanted a ByteTensor or a",
         {x, k, v, torch.ByteTensor(3, 5), longs})
      m:forward{x, k, v}
      forwards("argument 'key' is of size 2x3x4, wanted S x N x 3", x)
      for _, module in ipairs{m, nn.MultiheadAttention(4, 2)} do
         fails('nn.MultiheadAttention: backward wants a forward before it',
            function() module:backward({x, k, v}, x) end)
      end
   end)

   it('frees its memory in nn.Recompute before garbage is collected #devices1', function()
      local x = torch.CudaTensor(8, 16, 32):normal()
      local net = nn.Recompute(nn.MultiheadAttention(32, 4, {causal = true})):cuda()
      collectgarbage()
      collectgarbage 'stop'
      finally(function() collectgarbage 'restart' end)
      local live = {}
      for i = 1, 3 do
         net:forward(x)
         net:backward(x, net.output)
         cutorch.synchronize()
         live[i] = cutorch.memoryStats().live
      end
      assert.equal(live[2], live[3])
   end)
end)

-- Returns a network with a cache, in evaluation.
local function cached(options, typename)
   local net = nn.Sequential():add(nn.PositionEmbedding(12, 8))
   for _ = 1, 2 do
      net:add(nn.ConcatTable():add(nn.Sequential():add(nn.LayerNorm(8)):add(
         nn.MultiheadAttention(8, 4, options))):add(nn.Identity())):add(nn.CAddTable())
   end
   net:evaluate()
   return net:type(typename or 'torch.DoubleTensor')
end

local OPTIONS = {causal = true, batchFirst = true}

describe('nn.utils.beginCache', function()
   for i, options in ipairs{OPTIONS,
      {causal = true, batchFirst = true, rotary = true, numKvHeads = 2}} do
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         it(('gives the results without a cache (case %d, %s)'):format(i, typename), function()
            local net = cached(options, typename)
            local x = random(3, 12, 8):type(typename)
            local whole = net:forward(x):clone()
            for _, lengths in ipairs{{12}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {5, 1, 4, 2}} do
               assert.equal(net, nn.utils.beginCache(net, 12))
               local first = 1
               for _, length in ipairs(lengths) do
                  local y = net:forward(x:narrow(2, first, length))
                  assert.is_true(check.distance(y, whole:narrow(2, first, length)) < 1e-5)
                  first = first + length
               end
            end
            assert.equal(net, nn.utils.endCache(net))
            assert.equal(0, check.distance(net:forward(x), whole))
         end)
      end
   end

   it('works for sequences whose batch is dimension 2', function()
      local m = nn.MultiheadAttention(4, 2, {causal = true})
      m:evaluate()
      local x = random(5, 2, 4)
      local whole = m:forward(x):clone()
      nn.utils.beginCache(m, 5)
      for first = 1, 5, 2 do
         local n = math.min(2, 6 - first)
         assert.is_true(check.distance(m:forward(x:narrow(1, first, n)), whole:narrow(1, first, n))
            < 1e-14)
      end
   end)

   it('is not part of copies and files, and ends with clearState', function()
      local net = cached(OPTIONS)
      local x = random(2, 4, 8)
      local whole = net:forward(x):clone()
      nn.utils.beginCache(net, 4)
      net:forward(x)
      for _, other in ipairs{net:clone(), torch.deserialize(torch.serialize(net)),
         net:clearState()} do
         assert.equal(0, check.distance(other:forward(x), whole))
      end
   end)

   it('does not advance if forward fails for lack of memory #devices1', function()
      finally(function() cutorch.setMemoryLimit(1, 0) end)
      for _, fits in ipairs{0, 1} do -- neither keys nor values, or keys only
         local m = nn.MultiheadAttention(8, 4, OPTIONS):cuda()
         m:evaluate()
         local x = random(1, 1, 8):cuda()
         local wanted = m:forward(x):clone()
         nn.utils.beginCache(m, 65536)
         collectgarbage() -- otherwise the call that fails frees the last cache
         collectgarbage()
         cutorch.emptyCache()
         local stats = cutorch.memoryStats(1)
         cutorch.setMemoryLimit(1, stats.live + stats.cached + (fits + 0.5) * 65536 * 8 * 4)
         assert.error_matches(function() m:forward(x) end, 'out of memory on device 1')
         cutorch.setMemoryLimit(1, 0)
         assert.equal(0, check.distance(m:forward(x), wanted))
      end
   end)

   it('cannot be part of a graph, which would repeat one position', function()
      local graphs = not cutorch.getDeviceProperties(1).name:find 'host'
      for _, m in ipairs{nn.PositionEmbedding(5, 4), nn.MultiheadAttention(4, 2, OPTIONS)} do
         m:cuda():evaluate()
         local x = torch.rand(1, 1, 4):cuda()
         nn.utils.beginCache(m, 5)
         local function capture() cutorch.graph(function() m:forward(x) end) end
         if graphs then
            assert.error_matches(capture, torch.type(m) .. ': a captured graph cannot use a cache')
         else
            capture() -- a replay calls the function
         end
      end
   end)

   it('rejects what would continue wrongly', function()
      local net = cached(OPTIONS)
      local function fails(pattern, f) assert.error_matches(f, pattern) end
      for _, capacity in ipairs{0, 1.5, 2 ^ 60, 0 / 0, '4'} do
         fails("beginCache: argument 'capacity' is .*, wanted a number from 1 to 2^53",
            function() nn.utils.beginCache(net, capacity) end)
      end
      fails('beginCache: .*net', function() nn.utils.beginCache(5, 4) end)
      fails("argument 'net' has no nn.MultiheadAttention and no nn.PositionEmbedding",
         function() nn.utils.beginCache(nn.Tanh(), 4) end)
      fails("argument 'net' has an nn.DataParallelTable in it, wanted the network inside",
         function() nn.utils.beginCache(nn.DataParallelTable(1):add(cached(OPTIONS):cuda(), {1}), 4)
      end)
      for _, module in ipairs{nn.RotaryEmbedding(8), nn.ScaledDotProductAttention()} do
         fails("argument 'net' has an " .. torch.type(module) .. ' in it, wanted nn.Multihead',
            function() nn.utils.beginCache(nn.Sequential():add(cached(OPTIONS)):add(module), 4) end)
      end
      local m = nn.PositionEmbedding(3, 2)
      m:evaluate()
      fails("argument 'net' uses one nn.PositionEmbedding twice", function()
         nn.utils.beginCache(nn.Sequential():add(m):add(m), 3)
      end)
      net:training()
      fails("argument 'net' is in training, wanted net:evaluate", function()
         nn.utils.beginCache(net, 4)
      end)
      net:evaluate()

      nn.utils.beginCache(net, 4)
      local x = random(2, 3, 8)
      net:forward(x)
      fails("argument 'input' has 3 positions after 3 in the cache, wanted at most 4, the capacity",
         function() net:forward(x) end)
      nn.utils.beginCache(net, 6)
      net:forward(x)
      fails('backward during a cache; call nn.utils.endCache first',
         function() net:backward(x, x) end)
      fails('argument .input. is a batch of 1, wanted 2, as in the cache',
         function() net:forward(random(1, 1, 8)) end)
      nn.utils.beginCache(net, 6)
      net:training()
      fails('forward in training with a cache; call evaluate.*, or nn.utils.endCache',
         function() net:forward(x) end)
      nn.utils.beginCache(m, 9)
      m:forward(random(1, 3, 2))
      fails('argument .input. has 1 positions after 3 in the cache, wanted at most 3, numPositions',
         function() m:forward(random(1, 1, 2)) end)

      local wanted = 'a cache wants self%-attention with the option causal = true and without masks'
      local own = nn.MultiheadAttention(4, 2)
      own:evaluate()
      nn.utils.beginCache(own, 9)
      fails(wanted, function() own:forward(random(1, 2, 4)) end)
      own.causal = true
      local q, k = random(1, 2, 4), random(1, 2, 4)
      fails(wanted, function() own:forward{q, k, k} end)
      fails(wanted, function() own:forward{q, q, q, torch.ByteTensor(2, 1)} end)
      own:forward(q)
      local g = random(1, 2, 4)
      fails('backward during a cache', function() own:accGradParameters(q, g) end)
      nn.utils.endCache(own)
      fails('backward wants a forward before it', function() own:backward(q, g) end)
   end)
end)
