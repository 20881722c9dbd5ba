--- torch.broadcast, torch.where, and the functions that find NaN and infinite elements.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch = dpt.torch
local isReal = {}
for _, name in ipairs(elements.reals) do
   isReal[name], isReal[elements.onDevice(name)] = true, true
end

local function tensor(name, values)
   return torch.Tensor(values):type('torch.' .. name .. 'Tensor')
end

describe('torch.broadcast', function()
   it('returns views of a common size, with stride 0 in repeated dimensions', function()
      local a, b, c = torch.rand(3, 1), torch.IntTensor{1, 2}, torch.rand(2, 1, 1)
      local x, y, z = torch.broadcast(a, b, c)
      for _, t in ipairs{x, y, z} do assert.same({2, 3, 2}, t:size():totable()) end
      assert.same({0, 1, 0}, {x:stride(1), x:stride(2), x:stride(3)})
      for i = 1, 2 do
         for j = 1, 3 do
            for k = 1, 2 do
               assert.same({a[j][1], k, c[i][1][1]}, {x[i][j][k], y[i][j][k], z[i][j][k]})
            end
         end
      end
      a[2][1] = 7
      assert.equal(7, x[1][2][2])
      assert.is_true(torch.broadcast(a):isSetTo(a))
      local turned = torch.broadcast(torch.rand(2, 3):t(), a)
      assert.same({1, 3}, turned:stride():totable())
   end)

   it('accepts sizes of 0', function()
      local x, y = torch.broadcast(torch.rand(2, 1), torch.Tensor())
      assert.same({{2, 0}, {2, 0}}, {x:size():totable(), y:size():totable()})
      assert.same({3, 0, 4}, torch.broadcast(torch.Tensor(3, 0, 1),
         torch.rand(4)):size():totable())
   end)

   it('rejects sizes that do not fit, and values other than tensors', function()
      assert.error_matches(function() torch.broadcast(torch.rand(2, 1), torch.rand(4, 3, 5)) end,
         "^broadcast: argument '2' is a torch.DoubleTensor of size 4x3x5, wanted size 2 or 1 in"
            .. " dimension 2 as in '1', a torch.DoubleTensor of size 2x1")
      assert.error_matches(function() torch.broadcast(torch.rand(2), nil, torch.rand(2)) end,
         "^broadcast: argument '2' is of type nil, wanted a tensor")
      assert.error_matches(function() torch.broadcast() end, "argument '1' is of type nil")
   end)
end)

describe('torch.where', function()
   it('selects elements of all types, of tensors and numbers', function()
      for _, name in ipairs(elements.everywhere) do
         local x = tensor(name, {{1, 5, 2}, {6, 3, 4}})
         local y = tensor(name, {{10}, {20}})
         local mask = x:gt(3)
         local function is(wanted, got)
            assert.equal(x:type(), got:type())
            assert.same(wanted, got:double():totable())
         end
         is({{10, 5, 10}, {6, 20, 4}}, torch.where(mask, x, y))
         is({{10, 5, 10}, {6, 20, 4}}, torch.where(x:clone():zero(), mask, x, y))
         is({{0, 5, 0}, {6, 0, 4}}, torch.where(mask, x, 0))
         is({{1, 7, 2}, {7, 3, 7}}, torch.where(mask, 7, x))
         is({{1, 9, 2}, {6, 9, 4}}, torch.where(x[1]:ne(5), x, 9))
         is({{1, 5, 2}, {0, 0, 0}}, torch.where(y:eq(10), x, y:clone():zero()))
         local into = x:clone()
         assert.is_true(rawequal(into, torch.where(into, mask, into, 0)))
         is({{0, 5, 0}, {6, 0, 4}}, into)
      end
      assert.same({1.5, -2}, torch.where(torch.ByteTensor{1, 0}, 1.5, -2):totable())
      assert.equal('torch.CudaDoubleTensor', torch.where(torch.CudaByteTensor{1}, 1, 2):type())
      assert.same({3, 0}, torch.where(torch.ByteTensor{1, 0}, torch.CudaTensor{3, 4}, 0):totable())
   end)

   it('ignores NaN and infinite elements that are not selected', function()
      for _, name in ipairs{'Double', 'Float', 'Half', 'Cuda', 'CudaHalf'} do
         local x = tensor(name, {0 / 0, 1, 1 / 0, -1 / 0, 2})
         local finite = x:isfinite()
         assert.same({0, 1, 0, 0, 2}, torch.where(finite, x, 0):double():totable())
         assert.same({-1, 1, -1, -1, 2},
            torch.where(finite, x, tensor(name, {-1})):double():totable())
      end
   end)

   it('agrees with a loop for strided operands and many elements', function()
      torch.manualSeed(2)
      local a, b, mask = torch.rand(7, 5):t(), torch.rand(5, 14):narrow(2, 3, 7),
         torch.rand(7):gt(0.5)
      local y = torch.where(mask, a, b)
      for i = 1, 5 do
         for j = 1, 7 do assert.equal(mask[j] == 1 and a[i][j] or b[i][j], y[i][j]) end
      end
      local x = torch.randn(1000, 33)
      assert.equal(0, (torch.where(x:gt(0), x, torch.mul(x, -1)) - torch.abs(x)):abs():max())
      assert.same({0}, {torch.where(torch.ByteTensor(), torch.Tensor(), 3):nElement()})
      assert.same({2, 0}, torch.where(torch.ByteTensor(2, 1), torch.Tensor(2, 0), 3):size()
         :totable())
   end)

   it('rejects other conditions, types and sizes', function()
      local x, mask = torch.rand(2), torch.ByteTensor{1, 0}
      assert.error_matches(function() torch.where(x, 1, 2) end,
         '^where: wanted %[result%] ByteTensor %(tensor | number%) %(tensor | number%), got'
            .. ' torch.DoubleTensor, number, number')
      assert.error_matches(function() torch.where(mask, x) end, 'got torch.ByteTensor, torch.Dou')
      assert.error_matches(function() torch.where(mask, x, x:float()) end,
         "^where: argument 'b' is a torch.FloatTensor of size 2, wanted a tensor like argument 'a'")
      assert.error_matches(function() torch.where(torch.CudaByteTensor{1}, 1, x) end,
         "^where: argument 'condition' is a torch.CudaByteTensor of size 1, wanted a tensor like"
            .. " argument 'b', a torch.DoubleTensor")
      assert.error_matches(function() torch.where(mask, 1, torch.rand(3)) end,
         "^where: argument 'b' is a torch.DoubleTensor of size 3, wanted size 2 or 1 in dimension 1"
            .. " as in 'condition', a torch.ByteTensor of size 2")
   end)
end)

describe('torch.isnan, isinf and isfinite', function()
   it('return masks for all element types', function()
      for _, name in ipairs(elements.everywhere) do
         local x = tensor(name, isReal[name] and {0 / 0, 1, 1 / 0, -1 / 0, 0} or {1, 1, 2, 3, 0})
         local real = isReal[name] and 1 or 0
         assert.same({real, 0, 0, 0, 0}, x:isnan():totable())
         assert.same({0, 0, real, real, 0}, x:isinf():totable())
         assert.same({1 - real, 1, 1 - real, 1 - real, 1}, torch.isfinite(x):totable())
         assert.matches(name:find 'Cuda' and '^torch.CudaByte' or '^torch.Byte', x:isinf():type())
      end
      assert.equal(0, torch.Tensor():isnan():nElement())
   end)

   it('reject other values', function()
      for _, name in ipairs{'isnan', 'isinf', 'isfinite'} do
         assert.error_matches(function() torch[name](3) end, '^' .. name .. ': wanted tensor, got')
      end
   end)
end)
