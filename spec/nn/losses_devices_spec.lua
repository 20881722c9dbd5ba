--- Losses, lookups, dropout and optimizer steps on devices at sizes beyond one thread block, at
-- unaligned addresses and with invalid values: against host tensors, which other specs check.
local dpt = require 'dpt'
local torch, nn, optim = dpt.torch, dpt.nn, dpt.optim
local ffi = require('dpt.ffi').ffi
local lib = require('dpt.ffi').lib
local criterions = require 'spec.support.criterions'
local elements = require 'spec.support.elements'

--- Copies t to the device; odd: starting at the second element of a storage.
local function there(t, odd)
   local name = t:type():gsub('torch%.', 'torch.Cuda'):gsub('CudaFloat', 'Cuda')
   if not odd then return t:type(name) end
   local whole = torch.factory(name)():resize(t:nElement() + 1)
   local view = whole:narrow(1, 2, t:nElement()):view(t:size())
   return view:copy(t)
end

local function close(a, b, tolerance)
   a, b = a:double(), b:double()
   local size = math.max(1, a:nElement() > 0 and torch.abs(a):max() or 0)
   local apart = a:nElement() > 0 and torch.add(a, -1, b):abs():max() or 0
   assert.is_true(apart <= tolerance * size, ('apart by %g'):format(apart))
end

--- Checks that a criterion made by make() returns the same on host and device.
local function agree(make, input, target, tolerance)
   for _, typename in ipairs{'torch.DoubleTensor', 'torch.FloatTensor'} do
      for _, odd in ipairs{false, true} do
         local x = input:type(typename)
         local here, other = make():type(x:type()), make():type(there(x):type())
         local t = torch.isTypeOf(target, 'torch.LongTensor') and target or target:type(typename)
         local limit = typename == 'torch.DoubleTensor' and 1e-12 or tolerance or 1e-5
         local a, b = here:forward(x, t), other:forward(there(x, odd), there(t, odd))
         assert.near(a, b, limit * math.max(1, math.abs(a)))
         close(here:backward(x, t), other:backward(there(x, odd), there(t, odd)), limit)
      end
   end
end

local function classes(...)
   local sizes = {...}
   local C = table.remove(sizes)
   return torch.rand(unpack(sizes)):mul(C):floor():add(1):long()
end

describe('On devices', function()
   before_each(function() torch.manualSeed(11) end)

   for _, case in ipairs(criterions) do
      it(case.name .. ' of many rows equals the host', function()
         local made = case.make()
         local x, t = case.input(1200), case.target and case.target(1200)
         if not torch.isTensor(x) or not torch.isTensor(t) then return end
         local here, other = made:double(), case.make():type('torch.CudaDoubleTensor')
         local y, u = there(x), there(t)
         local a, b = here:forward(x, t), other:forward(y, u)
         assert.near(a, b, 1e-10 * math.max(1, math.abs(a)))
         close(here:backward(x, t), other:backward(y, u), 1e-12)
      end)
   end

   for _, name in ipairs{'MSE', 'Abs', 'SmoothL1', 'BCE', 'SoftMargin', 'DistKLDiv', 'Margin'} do
      it(name .. ' equals the host for any number of elements, at odd addresses', function()
         for _, n in ipairs{1, 3, 4, 1023, 16385, 70001} do
            local x, t = torch.rand(n):mul(0.9):add(0.05), torch.rand(n):gt(0.5):double()
            agree(function() return nn[name .. 'Criterion']() end, x, t)
         end
      end)
   end

   it('nn.ClassNLLCriterion accepts weights, ignored classes and targets of any type', function()
      local C = 7
      local weights = torch.rand(C):add(0.5)
      for _, N in ipairs{1, 130, 1025, 9000} do
         local x, t = torch.randn(N, C), classes(N, C)
         agree(function() return nn.ClassNLLCriterion(weights) end, x, t)
         agree(function() return nn.ClassNLLCriterion(nil, false, 3) end, x, t)
         local other = nn.ClassNLLCriterion():type('torch.CudaDoubleTensor')
         local first = other:forward(there(x), there(t))
         for _, name in ipairs(elements.all) do
            local kind = 'torch.' .. elements.onDevice(name) .. 'Tensor'
            assert.equal(first, other:forward(there(x), t:type(kind)))
         end
      end
      agree(function() return nn.SpatialClassNLLCriterion(weights) end, torch.randn(3, C, 61, 53),
         classes(3, 61, 53, C))
   end)

   it('losses of 16-bit inputs are summed in float', function()
      for _, name in ipairs(elements.reduced) do
         local kind = 'torch.' .. elements.onDevice(name) .. 'Tensor'
         local ranking = nn.MarginRankingCriterion(1):type(kind)
         ranking.sizeAverage = false
         local x = torch.zeros(2051):type(kind) -- a loss of 1 each
         assert.equal(2051, ranking:forward({x, x}, torch.ones(2051):type(kind)))
      end
   end)

   it('a class out of range raises as on the host, and later calls are correct', function()
      local x, t = torch.randn(600, 4), classes(600, 4)
      t[577] = 5
      for _, name in ipairs{'ClassNLL', 'MultiMargin'} do
         local message = name .. "Criterion: argument 'target' has class 5 at element 577, wanted"
         for _, step in ipairs{'forward', 'backward'} do
            local here = nn[name .. 'Criterion']():double()
            local other = nn[name .. 'Criterion']():type('torch.CudaDoubleTensor')
            assert.error_matches(function() here[step](here, x, t) end, message, 1, true)
            assert.error_matches(function()
               other[step](other, there(x), there(t))
               dpt.cutorch.synchronize()
            end, message, 1, true)
            local good = there(torch.ones(600):long())
            assert.near(here:forward(x, good:long()), other:forward(there(x), good), 1e-12)
         end
      end
   end)

   it('a class or an index that is not an integer is reported unrounded', function()
      local weight = torch.rand(3, 2)
      local texts = {{0 / 0, 'NaN'}, {1 / 0, 'inf'}, {-1 / 0, '-inf'}, {-2.5, '-2'}, {4.5, '4'},
         {1e30, function(T) return T:find 'Double' and '1e+30' or '1.0000000150475e+30' end}}
      for _, T in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.CudaDoubleTensor',
         'torch.CudaTensor'} do
         local x, labels = torch.randn(3, 3):type(T), torch.Tensor{1, 2, 3}
         local image = torch.randn(1, 3, 1, 3):type(T)
         local function target(bad)
            local t = labels:clone()
            t[2] = bad
            return t:type(T)
         end
         local nll, margin = nn.ClassNLLCriterion():type(T), nn.MultiMarginCriterion():type(T)
         local spatial = nn.SpatialClassNLLCriterion():type(T)
         local multi = nn.MultiLabelMarginCriterion():type(T)
         local lookup = nn.LookupTable(3, 2):type(T)
         lookup.weight:copy(weight)
         for _, case in ipairs(texts) do
            local text = type(case[2]) == 'function' and case[2](T) or case[2]
            local bad = target(case[1])
            local class = ("'target' has class %s at element 2, wanted 1 to 3"):format(text)
            local index = ("'indices' has %s at element 2, wanted 1 to 3"):format(text)
            for _, run in ipairs{
               {class, function() nll:forward(x, bad) end},
               {class, function() nll:updateGradInput(x, bad) end},
               {class, function() spatial:forward(image, bad:view(1, 1, 3)) end},
               {class, function() margin:forward(x, bad) end},
               {class, function() margin:updateGradInput(x, bad) end},
               {class, function() multi:forward(x[1], bad) end},
               {class, function() nn.CrossEntropyCriterion():type(T):forward(x, bad) end},
               {index, function() lookup:forward(bad) end},
               {index, function() lookup:accGradParameters(bad, torch.ones(3, 2):type(T), 1) end},
            } do
               assert.error_matches(function() run[2]() dpt.cutorch.synchronize() end, run[1], 1,
                  true)
            end
         end
         -- an integer tensor holds the number that NaN was converted to
         local long = target(0 / 0):long()
         local lost = '-9223372036854775808 (NaN or too large) at element 2'
         for _, run in ipairs{
            function() nll:forward(x, T:find 'Cuda' and there(long) or long) end,
            function() lookup:forward(T:find 'Cuda' and there(long) or long) end,
         } do
            assert.error_matches(function() run() dpt.cutorch.synchronize() end, lost, 1, true)
         end
         for value, text in pairs{[1 / 0] = 'inf', [-1e300] = '-1e+300'} do
            assert.error_matches(function() nll:forward(x[1], value) end,
               "nn.ClassNLLCriterion: argument 'target' has class " .. text
               .. ', wanted an integer from 1 on', 1, true)
         end
         assert.error_matches(function() margin:forward(x[1], 0 / 0) end, 'has class NaN, wanted')
         assert.is_true(nll:forward(x, target(2)) == nll:forward(x, torch.Tensor{1, 2, 3}:type(T)))
      end
   end)

   it('nn.MultiMarginCriterion of many classes equals the host', function()
      local weights = torch.rand(3)
      for _, p in ipairs{1, 2} do
         agree(function() return nn.MultiMarginCriterion(p) end, torch.randn(300, 77),
            classes(300, 77))
         agree(function() return nn.MultiMarginCriterion(p, weights) end, torch.randn(1200, 3),
            classes(1200, 3))
      end
   end)

   it('nn.MultiLabelMarginCriterion accepts many classes, none, all, and duplicate labels',
      function()
      for _, C in ipairs{1, 33, 700} do
         local N = C == 1 and 1100 or 9
         local t = torch.LongTensor(N, C):zero()
         for n = 1, N do
            local labels = n == 1 and 0 or n == 2 and C or math.min(C, 3 + n % 11)
            local list = torch.randperm(C):long()
            if labels > 0 then t[n]:narrow(1, 1, labels):copy(list:narrow(1, 1, labels)) end
            if labels > 2 then t[n][2] = t[n][1] end
         end
         agree(nn.MultiLabelMarginCriterion, torch.randn(N, C), t)
      end
   end)

   it('a lookup of many indices has the rows and gradients of the host', function()
      for _, case in ipairs{{1, 5, 3}, {31, 9, 130}, {33, 2, 4}, {700, 40, 17}, {9000, 30, 5}} do
         local n, V, D = unpack(case)
         local idx = classes(n, V)
         idx:narrow(1, 1, math.ceil(n / 2)):fill(V) -- one row occurs often
         for _, frequency in ipairs{false, true} do
            local here = nn.LookupTable(V, D, 1):double()
            if frequency then here:scaleGradByFreq() end
            local other = here:clone():type('torch.CudaDoubleTensor')
            close(here:forward(idx), other:forward(there(idx)), 0)
            local g = torch.randn(n, D)
            here:backward(idx, g, 0.5)
            other:backward(there(idx), there(g, true), 0.5)
            close(here.gradWeight, other.gradWeight, 1e-12)
            local again = other.gradWeight:clone()
            other:zeroGradParameters()
            other:backward(there(idx), there(g), 0.5)
            assert.is_true(again:equal(other.gradWeight))
         end
         local here = nn.LookupTable(V, D, 0, 0.5, 1.5):double()
         local other = here:clone():type('torch.CudaDoubleTensor')
         close(here:forward(idx), other:forward(there(idx)), 1e-14)
         close(here.weight, other.weight, 1e-14)
      end
   end)

   it('an index out of range raises before a lookup writes anything', function()
      local net = nn.LookupTable(6, 8, 0, 0.1):cuda()
      local idx = there(classes(3000, 6))
      idx[2999] = 7
      local message = "lookup: argument 'indices' has 7 at element 2999, wanted 1 to 6"
      local weight, gradient = net.weight:clone(), net.gradWeight:clone()
      for _, f in ipairs{
         function() net:forward(idx) end,
         function() net:accGradParameters(idx, torch.ones(3000, 8):cuda(), 1) end,
      } do
         assert.error_matches(function() f() dpt.cutorch.synchronize() end, message, 1, true)
         assert.is_true(weight:equal(net.weight))
         assert.is_true(gradient:equal(net.gradWeight))
      end
   end)

   it('a mask has the words that Philox returns', function()
      for _, name in ipairs{'torch.CudaTensor', 'torch.CudaDoubleTensor'} do
         local text = {}
         local mask = torch.factory(name)():resize(4, 7)
         lib.dropout_mask(mask, ffi.new('dpt_draw', 42, 5, 2), 0.5, 3)
         for i = 1, 4 do
            for k = 1, 7 do text[#text + 1] = mask[i][k] end
         end
         assert.equal('0333003303000033300300030000', table.concat(text))
         local big, part = torch.factory(name)():resize(3000, 12), torch.factory(name)()
         lib.dropout_mask(big, ffi.new('dpt_draw', 42, 1, 0), 0.25, 1)
         assert.near(0.75, big:mean(), 0.02)
         part:resize(5, 12)
         lib.dropout_mask(part, ffi.new('dpt_draw', 42, 1, 2990), 0.25, 1)
         assert.is_true(part:equal(big:narrow(1, 2991, 5)))
      end
   end)

   it('steps of sgd, adam and adamw have the bits of host tensors', function()
      for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor'} do
         for _, odd in ipairs{false, true} do
            for i, config in ipairs{
               {'sgd'}, {'sgd', weightDecay = 0.1}, {'sgd', momentum = 0.9, weightDecay = 0.01},
               {'sgd', momentum = 0.9, dampening = 0, nesterov = true},
               {'sgd', learningRates = true, weightDecays = true}, {'adam'},
               {'adam', weightDecay = 0.1},
               {'adam', learningRates = true, weightDecays = true}, {'adam', amsgrad = true},
               {'adamw', weightDecay = 0.1, amsgrad = true}, {'adamw', learningRates = true},
               {'adamw', weightDecays = true},
               {'adamw', learningRates = true, weightDecays = true, amsgrad = true},
            } do
               local n = 1500 + i
               local x, g = torch.randn(n):type(typename), torch.randn(n):type(typename)
               local y, h = there(x, odd), there(g, odd)
               local here, other = {learningRate = 0.1}, {learningRate = 0.1}
               for k, v in pairs(config) do
                  if k ~= 1 then
                     if v == true and k:find 's$' then v = torch.rand(n):type(typename) end
                     here[k], other[k] = v, torch.isTensor(v) and there(v, odd) or v
                  end
               end
               for _ = 1, 3 do
                  optim[config[1]](function() return 0, g:clone() end, x, here)
                  optim[config[1]](function() return 0, h:clone() end, y, other)
               end
               assert.is_true(x:equal(y:type(typename)), config[1] .. ' ' .. i)
            end
         end
      end
   end)
end)
