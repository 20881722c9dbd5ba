-- Ranges, triangles, cross products, small convolutions: devices agree with the host.
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local numbers = both.numbers

describe('On a device as on the host', function()
   it('torch.Tensor of a table or a tensor ignores further arguments, as in Torch7', function()
      local a = torch.Tensor{1, 2}
      assert.same({1, 2}, torch.Tensor({1, 2}, 5):totable())
      assert.same({1, 2}, torch.Tensor(a, {}, 7):totable())
      assert.equal(a:storage():data(), a.new(a, a):storage():data())
   end)

   it('ramps are made', function()
      both.agree(both.types, function(make)
         local x = make(torch.zeros(3, 7))
         x:t():range(1, 21)
         return x, make{0}:range(-3, 40, 4), make(torch.zeros(70001)):range(1, 70001)
      end)
      both.agree(both.reals, function(make)
         local shared = make{1, 2}:view(2, 1):expand(2, 5)
         return make{0}:linspace(-1, 2, 1000), make{0}:linspace(3, 3, 1), shared:linspace(0, 1, 10)
      end)
      both.agree(both.reals, function(make) return make{0}:logspace(-3, 3, 50) end, 1e-3)
      both.agree({'Double'}, function(make) return make{0}:logspace(-30, 30, 50) end, 1e-14)
   end)

   it('triangles are cut out', function()
      both.agree(both.types, function(make)
         local x, list = make(numbers(1, 9, 13, 7)), {}
         for k = -14, 8 do
            list[#list + 1] = torch.tril(x, k)
            list[#list + 1] = torch.triu(x:t(), k)
            local part = make(numbers(1, 9, 9, 9))
            part:narrow(2, 2, 6):t():tril(k)
            list[#list + 1] = part
         end
         return unpack(list)
      end)
      both.agree({'Float'}, function(make) return make(numbers(1, 9, 300, 301)):triu(1) end)
   end)

   it('cross products are computed', function()
      both.agree(both.types, function(make)
         local a, b = make(numbers(0, 5, 700, 3)), make(numbers(0, 5, 700, 3))
         local c = make(numbers(0, 5, 4, 3, 5))
         local here = a:clone()
         here:cross(here, b)
         return torch.cross(a, b), torch.cross(c, c:clone():fill(2), 2), here,
            torch.cross(a:t(), b:t(), 1)
      end)
   end)

   it('cross products are computed without a dimension', function()
      local x = torch.ones(2, 3)
      assert.same({2, 6}, torch.cat(x, x, require('ffi').new 'void *'):size():totable())
   end)

   it('many tensors are joined side by side', function()
      both.agree(both.andReduced('Byte', 'Float'), function(make)
         local lists = {{}, {}, {}}
         for i = 1, 300 do
            lists[1][i] = make(numbers(0, 9, 3 + i % 2)):fill(i % 100)
            lists[2][i] = make(numbers(0, 9, 1, 7)):fill(i % 90)
            lists[3][i] = make(numbers(0, 9, 7, 2)):fill(i % 80)
         end
         local strided = make(numbers(0, 9, 5, 4)):t()
         torch.cat(strided, {make(numbers(0, 9, 2, 5)), make(numbers(5, 9, 2, 5))}, 1)
         return torch.cat(lists[1], 1), torch.cat(lists[2], 1), torch.cat(lists[3], 2), strided
      end)
   end)

   it('small convolutions are computed', function()
      both.agree(both.types, function(make)
         local plane, kernel = make(numbers(0, 3, 9, 8)), make(numbers(0, 3, 3, 4))
         local planes, kernels = make(numbers(0, 3, 5, 9, 8)), make(numbers(0, 3, 2, 5, 3, 2))
         local cube = make(numbers(0, 3, 4, 5, 6))
         return torch.conv2(plane, kernel), torch.conv2(plane:t(), kernel, 'F'),
            torch.xcorr2(planes, kernels), torch.xcorr2(planes, kernels, 'F'),
            torch.conv3(cube, make(numbers(0, 3, 2, 2, 3)), 'F'),
            torch.xcorr2(planes, make(numbers(0, 3, 5, 2, 2)))
      end)
      both.agree({'Float'}, function(make)
         return torch.conv2(make(numbers(-9, 9, 100, 90)), make(numbers(-9, 9, 5, 5)), 'F')
      end)
   end)
end)
