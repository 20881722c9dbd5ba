-- Modules of nn against numbers that torch/nn (8726825) printed for the same calls: details of its
-- sources that one would not expect.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local function close(wanted, t, sizes)
   if sizes then assert.same(sizes, t:size():totable()) end
   local list = t:contiguous():view(-1):totable()
   for i, v in ipairs(wanted) do
      assert.near(v, list[i], 2e-8 * math.max(1, math.abs(v)))
   end
end

describe('As recorded from Torch7 #recorded,', function()
   it('normalizations of neighbourhoods by a 1-D kernel weigh several planes', function()
      local x = torch.range(1, 24):resize(2, 4, 3)
      local divisive = nn.SpatialDivisiveNormalization(2, torch.Tensor{1, 2, 1})
      close({0.0722804137, 0.15844432, 0.196085102, 0.285229613, 0.392837101, 0.390750746},
         divisive:forward(x))
      close({0.0681687264, 0.0687361626, 0.0535429053, 0.0529659524, 0.049501545, 0.0390628541},
         divisive:backward(x, torch.ones(2, 4, 3)))
      close({-0.90374222, -1.00037814, -0.828236446, -0.908662253, -0.995782998, -0.815504324},
         nn.SpatialContrastiveNormalization(2, torch.Tensor{1, 2, 1}):forward(x))
   end)

   it('their constructors draw the same numbers as the convolutions they consist of in Torch7',
      function()
      for wanted, f in pairs{
         [0.647749396] = function() nn.SpatialSubtractiveNormalization(2) end,
         [0.670467508] = function()
            nn.SpatialDivisiveNormalization(2, torch.Tensor{1, 2, 1})
         end,
         [0.586555039] = function() nn.SpatialContrastiveNormalization(3, torch.ones(3, 5)) end,
      } do
         torch.manualSeed(1)
         f()
         assert.near(wanted, torch.uniform(), 1e-9)
      end
   end)

   it('nn.tables.random uses parts of permutations', function()
      torch.manualSeed(1)
      assert.same({1, 1, 7, 1, 2, 1, 4, 2, 6, 2, 3, 2, 1, 3, 7, 3, 2, 3, 4, 4, 3, 4, 5, 4, 6, 5,
         7, 5, 1, 5}, nn.tables.random(7, 5, 3):view(-1):totable())
      assert.near(0.538816732, torch.uniform(), 1e-9)
      assert.has_error(function() nn.tables.random(2, 3, 4) end,
         "nn.tables.random: argument 'nto' is 4, wanted 1 to 2, the input planes")
   end)

   it('nn.SparseLinear begins with a small bias', function()
      torch.manualSeed(1)
      local bias = nn.SparseLinear(4, 2).bias
      assert.near(-3.53244107e-07, bias[1], 1e-14)
      assert.near(-2.63911024e-07, bias[2], 1e-14)
   end)

   it('nn.MarginRankingCriterion has a gradient at the hinge', function()
      local gradients = nn.MarginRankingCriterion(0.5):backward(
         {torch.Tensor{1, 2}, torch.Tensor{0.5, 1}}, torch.Tensor{1, 1})
      close({-0.5, 0}, gradients[1])
      close({0.5, 0}, gradients[2])
   end)

   it('nn.MarginRankingCriterion divides by the first size', function()
      local criterion = nn.MarginRankingCriterion(1)
      local x = {torch.Tensor(2, 4):fill(0.5), torch.Tensor(2, 4):fill(0.25)}
      assert.are.equal(3, criterion:forward(x, torch.ones(2, 4)))
      close({0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, criterion:backward(x, torch.ones(2, 4))[2])
   end)

   it('criterions of pairs accept a column of a table as target', function()
      local target = torch.Tensor{{1, 5}, {-1, 5}}:select(2, 1)
      for name, x in pairs{MarginRankingCriterion = {torch.randn(2), torch.randn(2)},
         CosineEmbeddingCriterion = {torch.randn(2, 3), torch.randn(2, 3)},
         L1HingeEmbeddingCriterion = {torch.randn(2, 3), torch.randn(2, 3)},
         HingeEmbeddingCriterion = torch.randn(2)} do
         local a, b = nn[name](), nn[name]()
         assert.are.equal(a:forward(x, target:clone()), b:forward(x, target))
         assert.is_true((pcall(b.backward, b, x, target)))
      end
   end)

   it('nn.Replicate and nn.Squeeze keep the dimension of the batch', function()
      close({}, nn.Replicate(3, 1, 1):forward(torch.zeros(2, 3, 1)), {2, 3, 3, 1})
      close({}, nn.Squeeze(nil, 2):forward(torch.zeros(1, 1, 3)), {1, 3})
      close({}, nn.Squeeze(nil, 2):forward(torch.zeros(2, 1, 3)), {2, 3})
      close({}, nn.Squeeze():forward(torch.zeros(1, 1)), {1})
   end)

   it('nn.Unsqueeze remembers how many dimensions its first input has', function()
      local m = nn.Unsqueeze(1)
      close({}, m:forward(torch.zeros(3)), {1, 3})
      close({}, m:forward(torch.zeros(4, 3)), {4, 1, 3})
      close({}, m:forward(torch.Tensor()), {1, 0}) -- a vector without elements
      m = nn.Unsqueeze(1)
      m:forward(torch.zeros(2, 3))
      assert.has_error(function() m:forward(torch.zeros(3)) end,
         'nn.Unsqueeze: input has 1 dimensions, wanted 2 or more')
   end)

   it('nn.NaN names the module that produced a NaN', function()
      local function found(what, m, method, ...)
         local ok, message = pcall(m[method], m, ...)
         assert.is_false(ok)
         assert.matches('NaN found in ' .. what .. ' of module :\nnn.NaN(7) @ ', message, 1, true)
      end
      local nan, ones = 0 / 0, torch.ones(2)
      local linear = nn.Linear(2, 2)
      local m = nn.NaN(linear, 7)
      found('input', m, 'forward', torch.Tensor{nan, 1})
      linear.bias[1] = nan
      found('parameters', m, 'forward', ones)
      linear.bias:zero()
      m:forward(ones)
      found('gradOutput', m, 'backward', ones, torch.Tensor{nan, 1})
      linear.weight[1][1] = nan
      found('gradInput', m, 'backward', ones, ones)
      found('output', nn.NaN(nn.Sqrt(), 7), 'forward', torch.Tensor{-1})
   end)

   it('nn.Reshape accepts a size of -1', function()
      local x = torch.randn(2, 3, 4)
      close({}, nn.Reshape(-1):forward(x), {2, 12})
      close({}, nn.Reshape(4, -1):forward(x), {2, 4, 3})
      close({}, nn.Reshape(4, -1, false):forward(torch.randn(12)), {4, 3})
      local m = nn.Reshape(6, -1)
      close({}, m:backward(x, m:forward(x)), {2, 3, 4})
      assert.is_false((pcall(nn.Reshape(5, -1).forward, nn.Reshape(5, -1), x)))
   end)

   it('nn.LeakyReLU(true) has the usual slope and is not in place', function()
      local x = torch.Tensor{-1, 1}
      close({-0.01, 1}, nn.LeakyReLU(true):forward(x))
      close({-1, 1}, x)
      assert.is_false(nn.LeakyReLU(-0.5, true).inplace)
   end)

   it('nn.BatchNormalization uses the running statistics for a single value', function()
      local m = nn.BatchNormalization(2, nil, nil, false)
      m.running_mean:fill(1)
      m.running_var:fill(4)
      local x = torch.Tensor{{3, 5}}
      close({0.99999875, 1.9999975}, m:forward(x))
      close({1, 1, 4, 4}, torch.cat(m.running_mean, m.running_var))
      close({0.499999375, 0.99999875}, m:backward(x, torch.Tensor{{1, 2}}))
   end)

   it('tensors accept sizes in set, and numeric strings from apply', function()
      assert.same({2, 3}, torch.Tensor():set(torch.LongStorage{2, 3}):size():totable())
      assert.same({3}, torch.Tensor{1}:set(3):size():totable())
      assert.same({3, 5}, torch.LongTensor():set(torch.LongStorage{3, 5}):totable())
      assert.same({2, 4}, torch.Tensor{1, 2}:apply(function(v) return '' .. 2 * v end):totable())
      assert.are.equal(5, torch.squeeze(torch.Tensor(), torch.Tensor{5}))
      close({1, 0, 0, 1}, torch.eye(2, 0), {2, 2})
   end)
end)
