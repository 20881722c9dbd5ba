-- Call forms of torch's functions that Torch7's own tests and old programs use.
local torch = require('dpt').torch
local cutorch = require('dpt').cutorch
local elements = require 'spec.support.elements'

local function list(t) return t:totable() end

--- By name: {got, wanted}.
local function forms(cases)
   for _, name in ipairs(elements.reduced) do
      local x = torch[elements.onDevice(name) .. 'Tensor'](2):fill(-0.9)
      local one = torch[name .. 'Tensor'](2):fill(1)
      cases[name .. ' meets a number as an element'] = {list(x:eq(-0.9)), {1, 1}}
      cases[name .. ' meets a bound as an element'] = {list(x:clone():clamp(0.3, 1):eq(0.3)),
         {1, 1}}
      cases[name .. ' meets a divisor as an element'] = {list(x:clone():fmod(-0.9)), {0, 0}}
      cases[name .. ' tensors compute'] = {((one * 2 - one) * 3):abs():sum(), 6}
   end
   local g, r, itself = torch.Generator(), torch.Tensor(), torch.Tensor{1, 2}
   local function drawn(f) -- the same numbers with the generator before and after the result
      torch.manualSeed(g, 7)
      local first = list(f(g, torch.Tensor()))
      torch.manualSeed(g, 7)
      return {list(f(torch.Tensor(), g)), first}
   end
   for name, case in pairs{
      ['a type as last argument of zeros'] = {torch.zeros(2, 'torch.FloatTensor'):type(),
         'torch.FloatTensor'},
      ['... of ones'] = {torch.ones(2, 3, 'torch.IntTensor'):type(), 'torch.IntTensor'},
      ['... of rand'] = {torch.rand(2, 'torch.CudaTensor'):type(), 'torch.CudaTensor'},
      ['... of eye'] = {torch.eye(2, 'torch.LongTensor'):type(), 'torch.LongTensor'},
      ['... of range'] = {list(torch.range(1, 3, 1, 'torch.LongTensor')), {1, 2, 3}},
      ['... of linspace'] = {torch.linspace(0, 1, 3, 'torch.FloatTensor'):type(),
         'torch.FloatTensor'},
      ['... of randperm'] = {torch.randperm(3, 'torch.LongTensor'):type(), 'torch.LongTensor'},
      ['repeatTensor of itself'] = {list(itself:repeatTensor(itself, 2, 2)),
         {{1, 2, 1, 2}, {1, 2, 1, 2}}},
      ['of NaN and a number the number'] = {list(torch.Tensor{0 / 0, 1, 3}:cmax(2)), {2, 2, 3}},
      ['... with cmin'] = {list(torch.Tensor{0 / 0, 1, 3}:cmin(2)), {2, 1, 2}},
      ['nothing at a key that is no index'] = {{torch.Tensor(2)[nil] == nil,
         torch.CudaTensor(2)[true] == nil, torch.LongStorage(1)[nil] == nil,
         torch.LongStorage(1)[print] == nil}, {true, true, true, true}},
      ['numbers in strings as sizes'] = {list(torch.zeros('2', 3):size()), {2, 3}},
      ['... for narrow'] = {list(torch.Tensor{1, 2}:narrow('1', '2', '1')), {2}},
      ['... for manualSeed'] = {(torch.manualSeed('3')), nil},
      ['... for unsqueeze'] = {list(torch.Tensor(3):unsqueeze('1'):size()), {1, 3}},
      ['... for fill and add'] = {list(torch.Tensor(2):fill('2'):add('1')), {3, 3}},
      ['result and generator of rand'] = drawn(function(a, b) return torch.rand(a, b, 3) end),
      ['... of randn'] = drawn(function(a, b) return torch.randn(a, b, 3) end),
      ['... for randperm'] = drawn(function(a, b) return torch.randperm(a, b, 9) end),
      ['random of a tensor'] = {torch.random(torch.Tensor(4), 5, 5):sum(), 20},
      ['a number to the power of a tensor'] = {list(torch.pow(2, torch.Tensor{1, 3})), {2, 8}},
      ['... with a result'] = {list(r:pow(3, torch.Tensor{1, 2})), {3, 9}},
      ['topk without a dimension'] = {list(torch.Tensor{3, 1, 2}:topk(2, true, true)), {3, 2}},
      ['... without a number'] = {list((torch.topk(torch.Tensor{3, 1, 2}, true))), {3}},
      ['symeig of one triangle'] = {list((torch.symeig(torch.Tensor{{2, 0}, {5, 3}}, 'U'))),
         {2, 3}},
      ['pstrf of a tolerance'] = {list((torch.pstrf(torch.eye(2), 1e-3))), {{1, 0}, {0, 1}}},
      ['trtrs of a transposed matrix'] = {list((torch.trtrs(torch.Tensor{{3}, {8}},
         torch.Tensor{{1, 2}, {0, 2}}, 'T'))), {{3}, {1}}},
      ['cat along a dimension that is new'] = {list(torch.cat(torch.Tensor{1, 2},
         torch.Tensor{3, 4}, 2)), {{1, 3}, {2, 4}}},
      ['... and along one beyond that'] = {list(torch.cat(torch.Tensor{1, 2}, torch.Tensor{3, 4},
         3):size()), {2, 1, 2}},
      ['cat of nothing'] = {torch.cat(torch.Tensor(), torch.Tensor(), 3):dim(), 0},
      ['select of a vector, whatever the dimension'] = {torch.Tensor{4, 5}:select(2, 2), 5},
      ['isTensor as a method'] = {torch.Tensor.isTensor(torch.Tensor()), true},
      ['nothing is set to nothing'] = {torch.Tensor():isSetTo(torch.Tensor()), false},
      ['results of LAPACK have contiguous columns'] = {torch.inverse(torch.eye(3)):t()
         :isContiguous(), true},
      ['heap tracking is remembered'] = {{torch.setheaptracking(false), torch._heaptracking},
         {nil, false}},
      ['the type of what is no tensor'] = {torch.Tensor.type(3), nil},
      ['... and of a network'] = {torch.Tensor.type(require('dpt').nn.Linear(1, 1)), 'nn.Linear'},
      ['generators are one object or two'] = {{torch.isequal(g, g), torch.isequal(g,
         torch.Generator())}, {true, false}},
      ['a CharTensor holds an object'] = {torch.deserializeFromStorage(torch.CharTensor(
         torch.serializeToStorage{4})), {4}},
      ['the text of a timer'] = {tostring(torch.Timer():stop()), 'torch.Timer [status: stopped]'},
   } do
      cases[name] = case
   end
   return cases
end

describe('The package torch has the form of Torch7:', function()
   for name, case in pairs(forms{}) do
      it(name, function() assert.same(case[2], case[1]) end)
   end
   torch.setheaptracking(true)
end)

if cutorch then
   describe('device tensors accept', function()
      local x = torch.CudaTensor{1, 2, 3}

      it('masks of the host, and of their own type', function()
         assert.same({1, 3}, list(x[torch.ByteTensor{1, 0, 1}]))
         assert.same({1, 3}, list(x[torch.CudaTensor{1, 0, 1}]))
         assert.same({2}, list(x:maskedSelect(torch.CudaTensor{0, 1, 0})))
         local y = x:clone()
         y[torch.ByteTensor{0, 0, 1}] = 9
         assert.same({1, 2, 9}, list(y))
         assert.same({1, 2, 0}, list(y:maskedFill(torch.CudaTensor{0, 0, 1}, 0)))
      end)

      it('indices of their own type', function()
         for _, name in ipairs(elements.all) do
            local kind = 'torch.' .. elements.onDevice(name) .. 'Tensor'
            local t, i = x:type(kind), torch.Tensor{3, 1}:type(kind)
            assert.same({3, 1}, list(t:index(1, i)), kind)
            assert.same({3, 1}, list(t:gather(1, i)), kind)
            assert.same({7, 2, 7}, list(t:clone():indexFill(1, i, 7)), kind)
            assert.same({2, 0, 1}, list(t:clone():zero():scatter(1, i, torch.Tensor{1, 2}
               :type(kind))), kind)
         end
      end)

      it('means and absolute values of integers', function()
         for _, name in ipairs{'Char', 'Short', 'Int', 'Long'} do
            local t = torch.Tensor{-4, 1, -2}:type('torch.Cuda' .. name .. 'Tensor')
            assert.equal(-1, t:mean())
            assert.same({-1}, list(t:mean(1)))
            assert.same({4, 1, 2}, list(t:abs()))
         end
      end)

      it('a CudaTensor for indices, as cutorch had until 2016', function()
         local t = torch.CudaTensor{{1, 3, 2}, {6, 5, 4}}
         for name, rest in pairs{max = {2}, min = {2}, median = {2}, mode = {2}, sort = {2, true},
            kthvalue = {2, 2}, topk = {2, 2, true, true}} do
            local v, i, longs = torch.CudaTensor(), torch.CudaTensor(), torch.CudaLongTensor()
            local _, same = torch[name](v, i, t, unpack(rest))
            torch[name](v, longs, t, unpack(rest))
            assert.is_true(rawequal(same, i) and i:type() == 'torch.CudaTensor', name)
            assert.same(list(longs), list(i))
         end
         local r = torch.CudaTensor(7)
         assert.same({{2}}, list(torch.nonzero(r, torch.CudaTensor{0, 4})))
         assert.same({{2}}, list(r))
         assert.equal(0, torch.nonzero(r, torch.CudaTensor{0, 0}):nElement())
         assert.same({2, 2}, list(torch.multinomial(r, torch.CudaTensor{0, 4}, 2, true)))
         assert.equal('torch.CudaTensor', r:type())
      end)
   end)
end
