--- dpt.nn.gradients: nn.utils.clipGradNorm, the modules' method, and nn.utils.clipGradValue.
local asleep = require 'spec.support.asleep'
local both = require 'spec.support.both'
local core = require 'dpt.tensor.core'
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch

--- Fills gradients with 1, -2, 3, ... in order, and returns the values.
local function fill(gradients)
   local values = {}
   for _, g in ipairs(gradients) do
      local list = {}
      for i = 1, g:nElement() do
         list[i] = (#values + 1) * (#values % 2 == 0 and 1 or -1)
         values[#values + 1] = list[i]
      end
      g:copy(torch.Tensor(list):view(g:size()))
   end
   return values
end

local function normOf(values, p)
   local sum, most = 0, 0
   for _, v in ipairs(values) do
      sum, most = sum + math.abs(v) ^ p, math.max(most, math.abs(v))
   end
   return p == math.huge and most or sum ^ (1 / p)
end

--- Compares gradients with values times factor.
local function check(values, factor, gradients, tolerance)
   local n = 0
   for _, g in ipairs(gradients) do
      for _, v in ipairs(g:double():contiguous():view(-1):totable()) do
         n = n + 1
         assert.near(values[n] * factor, v, tolerance * math.abs(values[n]))
      end
   end
   assert.equal(#values, n)
end

describe('nn.utils.clipGradNorm', function()
   it('multiplies gradients by PyTorch\'s factor, on every type and for every norm', function()
      for kind, T in pairs(core.realNames) do
         local name = core.elementOf(kind).name
         local tolerance = name == 'Double' and 1e-14 or name == 'Float' and 1e-6
            or both.tolerance(name, 2e-3)
         for _, p in ipairs{2, 1, 3, 0.5, math.huge} do
            for _, share in ipairs{0.25, 1.5} do
               local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh()):add(nn.Linear(2, 1))
                  :type(T)
               local _, gradients = net:parameters()
               local values = fill(gradients)
               local norm = normOf(values, p)
               local factor = math.min(1, share * norm / (norm + 1e-6))
               local found = net:clipGradNorm(share * norm, p ~= 2 and p or nil)
               assert.near(norm, found, tolerance * norm)
               check(values, factor, gradients, tolerance)
               fill(gradients)
               local result = gradients[1].new()
               assert.equal(result, net:clipGradNorm(share * norm, p, result))
               assert.near(norm, result[1], 2 * tolerance * norm)
               check(values, factor, gradients, 2 * tolerance)
            end
         end
      end
   end)

   it('accepts a module, a flat gradient, a list, several types and several devices', function()
      local function network()
         return nn.Sequential():add(nn.Linear(3, 2)):add(nn.Linear(2, 2, false))
      end
      local flat, mixed, bare = network(), network(), network()
      local _, dx = flat:getParameters()
      mixed:get(2):cuda()
      bare:get(1).gradBias = nil -- a frozen parameter
      local norm = normOf(fill(select(2, network():parameters())), 2)
      for _, case in ipairs{
         {flat, select(2, flat:parameters()), flat}, {flat, select(2, flat:parameters()), dx},
         {mixed, select(2, mixed:parameters()), mixed},
         {mixed, select(2, mixed:parameters()), select(2, mixed:parameters())},
      } do
         local values = fill(case[2])
         assert.near(norm, nn.utils.clipGradNorm(case[3], norm / 3), 1e-5)
         check(values, norm / 3 / (norm + 1e-6), case[2], 1e-6)
      end
      local rest = {bare:get(1).gradWeight, bare:get(2).gradWeight}
      local values = fill(rest)
      assert.near(normOf(values, 2), bare:clipGradNorm(1), 1e-12)
      check(values, 1 / (normOf(values, 2) + 1e-6), rest, 1e-12)
      assert.equal(0, nn.utils.clipGradNorm({}, 1))
      assert.equal(0, nn.Tanh():clipGradNorm(1))
      assert.equal(0, nn.utils.clipGradNorm(torch.Tensor(), 1, math.huge))
   end)

   it('of modules on two devices is that of all #devices2', function()
      local net = nn.Sequential():add(nn.GPU(nn.Linear(2, 2), 1, 2)):add(nn.GPU(nn.Linear(2, 2), 2))
      net:cuda()
      local _, gradients = net:parameters()
      local values = fill(gradients)
      local norm = normOf(values, 2)
      assert.near(norm, net:clipGradNorm(1), 1e-5)
      check(values, 1 / (norm + 1e-6), gradients, 1e-6)
      assert.equal(1, cutorch.getDevice())
   end)

   it('counts shared gradients once', function()
      local one = nn.Linear(2, 2)
      local net = nn.Sequential():add(one):add(one:clone('weight', 'bias', 'gradWeight',
         'gradBias'))
      one.gradWeight:fill(2)
      one.gradBias:zero()
      assert.equal(4, net:clipGradNorm(2))
      assert.near(1, one.gradWeight[1][1], 1e-6)
      local t = torch.Tensor{3, 4}
      assert.equal(5, nn.utils.clipGradNorm({t, t, t:narrow(1, 1, 1)}, 1))
      assert.near(0.6, t[1], 1e-6)
   end)

   it('of nn.DataParallelTable is that of all rows, also of those that wait #devices2', function()
      local x, g = torch.ones(4, 2):cuda(), torch.ones(4, 2):cuda()
      local one = nn.Linear(2, 2):cuda()
      local many = nn.DataParallelTable(1):add(one:clone(), {1, 2})
      for _, net in ipairs{many, nn.Sequential():add(many)} do
         one:zeroGradParameters()
         many:zeroGradParameters()
         one:forward(x)
         one:backward(x, g)
         many:forward(x)
         many:noSync(function() many:backward(x, g) end)
         local norm = one:clipGradNorm(0.5)
         assert.near(math.sqrt(6 * 16), norm, 1e-5)
         assert.near(norm, net:clipGradNorm(0.5), 1e-5)
         local _, expected = one:parameters()
         for i, gradient in ipairs(select(2, many:parameters())) do
            assert.is_true((gradient - expected[i]):abs():max() < 1e-6)
         end
      end
   end)

   it('of nn.DistributedDataParallel is the method', function()
      local net = nn.DistributedDataParallel(nn.Add(2))
      local gradient = net:get(1).gradBias
      gradient:copy(torch.Tensor{3, 4})
      assert.equal(7, net:clipGradNorm(100, 1))
      assert.equal(5, nn.utils.clipGradNorm(net, 1))
      assert.near(0.8, gradient[2], 1e-6)
   end)

   it('leaves gradients whose norm is not finite, and returns it', function()
      for _, p in ipairs{2, 1, math.huge} do
         for _, bad in ipairs{0 / 0, 1 / 0, -1 / 0} do
            local t = torch.Tensor{3, bad, 1}
            local norm = nn.utils.clipGradNorm(t, 1, p)
            assert.equal(bad ~= bad, norm ~= norm)
            assert.is_true(bad ~= bad or norm == math.huge)
            assert.equal(3, t[1])
            assert.equal(1, t[3])
         end
      end
   end)

   it('rejects other arguments, at the script\'s line', function()
      local net = nn.Linear(1, 1)
      for text, f in pairs{
         ["clipGradNorm: argument 'maxNorm' is 0, wanted a number above 0"] =
            function() net:clipGradNorm(0) end,
         ["clipGradNorm: argument 'maxNorm' is missing, wanted a number above 0"] =
            function() nn.utils.clipGradNorm(net) end,
         ["clipGradNorm: argument 'maxNorm' is nan, wanted"] =
            function() nn.utils.clipGradNorm(torch.ones(2), 0 / 0) end,
         ["clipGradNorm: argument 'normType' is inf"] =
            function() net:clipGradNorm(1, 'inf') end,
         ["clipGradNorm: argument 'normType' is -1, wanted a number above 0"] =
            function() net:clipGradNorm(1, -1) end,
         ["clipGradNorm: argument 'gradients' is a number, wanted a module, a tensor or a list"] =
            function() nn.utils.clipGradNorm(3, 1) end,
         ["clipGradNorm: argument 'gradients' has a string at entry 2, wanted a tensor"] =
            function() nn.utils.clipGradNorm({torch.ones(1), 'x'}, 1) end,
      } do
         local ok, why = pcall(f)
         assert.is_false(ok)
         assert.truthy(why:find('gradients_spec.lua:%d+: '), why)
         assert.truthy(why:find(text, 1, true), why)
      end
   end)
end)

describe('nn.utils.clipGradNorm with a result', function()
   local norm = torch.CudaDoubleTensor()

   it('waits for no device #devices2', function()
      local one, two = torch.CudaTensor(3):fill(2), torch.CudaTensor(4):fill(1)
      local other = cutorch.withDevice(2, function() return torch.CudaTensor{3} end)
      asleep({1, 2}, function(awake)
         one:fill(2)
         nn.utils.clipGradNorm({one, two, other}, 1, 2, norm)
         return not awake()
      end)
      assert.near(5, norm[1], 1e-6)
      for t, value in pairs{[one] = 0.4, [two] = 0.2, [other] = 0.6} do
         assert.near(value, t[1], 1e-6)
      end
   end)

   it('does not change gradients whose norm is infinite or NaN', function()
      for _, p in ipairs{2, 0.5, math.huge} do
         for _, bad in ipairs{1 / 0, -1 / 0, 0 / 0} do
            for at = 1, 2 do
               local list = {torch.CudaTensor{3, 4}, torch.CudaTensor{5}}
               list[at][1] = bad
               nn.utils.clipGradNorm(list, 1, p, norm)
               assert.equal(tostring(math.abs(bad)), tostring(math.abs(norm[1])))
               assert.equal(4, list[1][2])
               assert.equal(at == 1 and 5 or 3, list[3 - at][1])
            end
         end
      end
   end)

   it('is 0 of no gradients, and wants a tensor of real numbers', function()
      assert.equal(0, nn.utils.clipGradNorm({torch.CudaTensor()}, 1, 2, norm)[1])
      for text, result in pairs{['a number'] = 1, ['a torch.LongTensor'] = torch.LongTensor(1)} do
         assert.error_matches(function() nn.utils.clipGradNorm(torch.ones(2), 1, 2, result) end,
            "clipGradNorm: argument 'result' is " .. text .. ', wanted a tensor of real numbers')
      end
   end)
end)

describe('nn.utils.clipGradValue', function()
   it('clips each element of every type, and keeps NaN', function()
      for _, T in pairs(core.realNames) do
         local t = torch.DoubleTensor{3, -0.5, 0.25, -4, 1 / 0, -1 / 0, 0 / 0}:type(T)
         nn.utils.clipGradValue(t, 0.5)
         local list = t:double():totable()
         assert.is_true(list[7] ~= list[7])
         list[7] = nil
         assert.same({0.5, -0.5, 0.25, -0.5, 0.5, -0.5}, list)
      end
   end)

   it('accepts a module, a flat gradient and a list', function()
      local function network()
         return nn.Sequential():add(nn.Linear(3, 2)):add(nn.Linear(2, 2, false))
      end
      local one, flat, mixed = network(), network(), network()
      local _, dx = flat:getParameters()
      mixed:get(2):cuda()
      for _, case in ipairs{{one, one}, {flat, dx}, {one, select(2, one:parameters())},
         {mixed, mixed}} do
         local _, gradients = case[1]:parameters()
         local values = fill(gradients)
         nn.utils.clipGradValue(case[2], 2)
         for i, v in ipairs(values) do values[i] = math.max(-2, math.min(2, v)) end
         check(values, 1, gradients, 0)
      end
      nn.utils.clipGradValue({}, 1)
      nn.utils.clipGradValue(nn.Tanh(), 1)
   end)

   it('clips the sums of all replicas, also of those that wait #devices2', function()
      local x = torch.ones(4, 2):cuda()
      local net = nn.DataParallelTable(1):add(nn.Linear(2, 2):cuda(), {1, 2})
      net:zeroGradParameters()
      net:forward(x)
      net:noSync(function() net:backward(x, x) end)
      nn.utils.clipGradValue(net, 3)
      net:syncGradients()
      assert.same({3, 3}, net:get(1).gradBias:totable())
   end)

   it('rejects other arguments, at the script\'s line', function()
      for text, given in pairs{
         ["argument 'value' is 0, wanted a number above 0"] = {nn.Linear(1, 1), 0},
         ["argument 'value' is missing, wanted a number above 0"] = {torch.ones(2)},
         ["argument 'value' is nan, wanted a number above 0"] = {torch.ones(2), 0 / 0},
         ["argument 'gradients' is a nil, wanted a module, a tensor or a list of tensors"] = {nil,
            1},
         ["argument 'gradients' has a string at entry 1, wanted a tensor"] = {{'x'}, 1},
      } do
         local ok, why = pcall(function() nn.utils.clipGradValue(given[1], given[2]) end)
         assert.is_false(ok)
         assert.truthy(why:find('gradients_spec.lua:%d+: clipGradValue: '), why)
         assert.truthy(why:find(text, 1, true), why)
      end
   end)
end)
