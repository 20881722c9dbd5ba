-- sort, topk, kthvalue, median, mode: devices agree with the host, for lanes of every length:
-- several lanes per block, one per block, and one in many blocks.
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local elements = require 'spec.support.elements'
local numbers = both.numbers

--- Returns all results for one tensor along a dimension.
local function everything(x, dim)
   local list, n = {}, x:size(dim)
   local function add(...) for _, t in ipairs{...} do list[#list + 1] = t end end
   add(x:sort(dim))
   add(x:sort(dim, true))
   add(x:mode(dim))
   add(x:median(dim))
   add(x:kthvalue(math.ceil(n / 3), dim))
   add(x:topk(math.ceil(n / 2), dim, true, true))
   add(x:topk(1, dim, false, true))
   add(x:topk(n, dim, true, true))
   return unpack(list)
end

describe('On a device as on the host, sort orders', function()
   it('many short lanes', function()
      both.agree(both.types, function(make) return everything(make(numbers(0, 9, 37, 1)), 2) end)
      both.agree(both.types, function(make) return everything(make(numbers(0, 9, 65, 3)), 2) end)
      both.agree(both.types, function(make) return everything(make(numbers(0, 99, 70, 33)), 1) end)
      both.agree({'Float', 'Long'}, function(make)
         return everything(make(numbers(-9, 9, 5, 40, 7)):transpose(1, 3), 2)
      end)
   end)

   it('lanes of one block', function()
      both.agree(both.types, function(make)
         return everything(make(numbers(0, 120, 3, 600)), 2)
      end)
      for _, n in ipairs{2047, 2048, 4096} do
         both.agree({'Float', 'Double'}, function(make)
            return everything(make(numbers(-500, 500, n)), 1)
         end)
      end
   end)

   it('lanes of many blocks', function()
      both.agree(both.types, function(make) return everything(make(numbers(0, 127, 4097)), 1) end)
      both.agree({'Short', 'Float', 'Double'}, function(make)
         return everything(make(numbers(-30000, 30000, 2, 9001)), 2)
      end)
      both.agree(both.andReduced 'Long', function(make)
         return make(numbers(-2000, 2000, 5000, 3)):sort(1, true)
      end)
      -- more tiles than a chunk holds
      both.agree({'Byte', 'Int'}, function(make)
         return make(numbers(0, 255, 90000)):sort(1)
      end)
   end)

   it('lanes whose threads meet in a warp, in a block, or in none', function()
      for _, n in ipairs{4, 7, 8, 9, 16, 128, 200, 256, 257, 512, 1000} do
         both.agree({'Float', 'Double'}, function(make)
            local x = make(numbers(0, 300, 5, n))
            return x:sort(2), select(2, x:sort(2, true))
         end)
      end
   end)

   it('the first of long lanes alone', function()
      local function first(x, k, dim)
         local a, b = x:topk(k, dim, false, true)
         return a, b, x:topk(k, dim, true, true)
      end
      for _, k in ipairs{1, 10, 255, 256, 257, 1024, 1025} do
         both.agree({'Float', 'Double'}, function(make)
            return first(make(numbers(-30000, 30000, 2, 9001)), k, 2)
         end)
      end
      -- not all of the equal elements are selected: their positions decide
      both.agree(both.types, function(make) return first(make(numbers(0, 3, 2, 5000)), 700, 2) end)
      both.agree({'Byte', 'Float'}, function(make)
         return first(make(numbers(5, 5, 1, 9001)), 300, 2)
      end)
      both.agree({'Float', 'Long'}, function(make)
         return first(make(numbers(-99, 99, 4100, 17)), 20, 1)
      end)
      both.agree({'Float'}, function(make) return first(make(numbers(0, 9999, 40000)), 9, 1) end)
   end)

   it('equals, zeros of both signs, infinities and NaNs', function()
      local odd = {0, -1, 0 / 0, math.huge, -math.huge, 1, -0.5, 3}
      for _, n in ipairs{20, 5000} do
         both.agree(both.reals, function(make)
            local x = numbers(1, 8, n):apply(function(i) return odd[i] end)
            x[7] = -1 / math.huge -- -0
            x = make(x)
            local up, places = x:sort()
            local down = x:sort(true)
            -- 1 / x distinguishes the zeros
            return up, places, down, make(up, 'Double'):pow(-1), (x:kthvalue(3)),
               (x:topk(4, 1, true, true))
         end)
      end
   end)

   it('the first few are those of all in order, of few and of many', function()
      for _, k in ipairs{1, 39, 41, 256, 257, 600} do
         both.agree(both.andReduced('Float', 'Double', 'Long'), function(make)
            local x = make(torch.range(1, 3000):mul(7919):remainder(2003):resize(2, 1500))
            local all = x:sort(2, true)
            local first, places = x:topk(k, 2, true, true)
            assert.equal(0, (first:double() - all:narrow(2, 1, k):double()):abs():max())
            return first, places, (x:topk(k, 2, false, true))
         end)
      end
   end)

   it('integers that a float cannot represent', function()
      local x = torch.LongTensor(4000):range(1, 4000):mul(4611686018427):add(1)
      x[17], x[18] = x[3999], -x[3999]
      for _, n in ipairs{100, 4000} do
         local part = x:narrow(1, 1, n)
         local want, want_places = part:sort(1, true)
         local got, places = part:type('torch.CudaLongTensor'):sort(1, true)
         assert.equal(0, (want - got:long()):abs():max())
         assert.equal(0, (want_places - places:long()):abs():max())
      end
   end)
end)

describe('torch.unique', function()
   it('returns distinct elements, the position of each one, and counts, for all types', function()
      for _, name in ipairs(elements.everywhere) do
         local x = torch.Tensor{{3, 1, 3}, {7, 1, 1}}:type('torch.' .. name .. 'Tensor')
         for _, each in ipairs{x, x:t():contiguous():t()} do
            local values, inverse, counts = each:unique(true, true, true)
            assert.equal(x:type(), values:type())
            assert.same({1, 3, 7}, values:double():totable())
            assert.same({{2, 1, 2}, {3, 1, 1}}, inverse:totable())
            assert.same({3, 2, 1}, counts:totable())
         end
         assert.is_nil((select(2, torch.unique(x))))
         assert.same({3, 2, 1}, (select(2, torch.unique(x, nil, false, true))):totable())
      end
   end)

   it('agrees with counting for many elements, on the host and on a device', function()
      torch.manualSeed(6)
      local x = torch.LongTensor(3, 4000):random(1, 500)
      for _, t in ipairs{x, x:cudaLong()} do
         local values, inverse, counts = torch.unique(t, true, true, true)
         local wanted = torch.histc(x:double(), 500, 0.5, 500.5)
         assert.same(wanted:nonzero():view(-1):totable(), values:totable())
         assert.equal(0, (wanted[wanted:gt(0)] - counts:double()):abs():max())
         assert.equal(0, (values:index(1, inverse:view(-1)) - t:view(-1)):abs():max())
      end
   end)

   it('treats NaNs as distinct, and accepts no elements', function()
      local values, inverse, counts = torch.Tensor{0 / 0, 2, 0 / 0, -1 / 0}:unique(true, true, true)
      assert.same({-1 / 0, 2}, values:narrow(1, 1, 2):totable())
      assert.same({0, 0, 1, 1}, values:isnan():totable())
      assert.same({1, 1, 1, 1}, counts:totable())
      assert.same({2, 1}, {inverse[2], inverse[4]})
      values, inverse, counts = torch.unique(torch.IntTensor(2, 0), true, true, true)
      assert.same({0, 0}, {values:nElement(), counts:nElement()})
      assert.same({2, 0}, inverse:size():totable())
      assert.error_matches(function() torch.unique(3) end, '^unique: wanted tensor %[sorted%]')
   end)
end)
