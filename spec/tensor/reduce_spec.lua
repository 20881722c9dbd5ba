--- Sums, norms, extremes and related functions: devices agree with the host, for slices reduced by
-- a few threads, one block, or many blocks, at any alignment.
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local numbers = both.numbers

--- Returns all reductions of a tensor along a dimension, exact for small integers.
local function everything(x, dim)
   local list = {}
   local function add(...) for _, t in ipairs{...} do list[#list + 1] = t end end
   add(x:sum(dim))
   add(x:max(dim))
   add(x:min(dim))
   if core.realNames[x.kind_] then
      add(x:norm(1, dim))
      add(x:norm(2, dim))
      add(x:norm(0, dim))
      add(x:mean(dim))
   end
   return unpack(list)
end

describe('On a device as on the host, reductions', function()
   it('of rows of every length, aligned or not, have the same bits', function()
      for _, n in ipairs{1, 2, 3, 4, 5, 31, 32, 33, 127, 255, 256, 257, 1000, 1023, 1025} do
         both.agree({'Float', 'Byte'}, function(make)
            return everything(make(numbers(0, 3, 5, n)), 2)
         end)
      end
      for _, n in ipairs{4096, 8191, 8192, 8193, 16390} do
         both.agree(both.types, function(make) return everything(make(numbers(0, 7, 2, n)), 2) end)
         both.agree(both.andReduced 'Float', function(make)
            return everything(make(numbers(0, 7, 2, n + 3)):narrow(2, 2, n), 2)
         end)
      end
      both.agree({'Float', 'Double', 'Short'}, function(make)
         return everything(make(numbers(-9, 9, 3, 4, 300)):select(2, 3), 2)
      end)
   end)

   it('of columns and of planes have the same bits', function()
      for _, size in ipairs{{1, 40}, {3, 33}, {7, 5}, {64, 64}, {257, 40}, {2100, 3}} do
         both.agree(both.types, function(make)
            return everything(make(numbers(0, 3, unpack(size))), 1)
         end)
      end
      both.agree({'Float', 'Int'}, function(make)
         return everything(make(numbers(0, 3, 5, 300, 6)), 2)
      end)
   end)

   it('of everything have the same bits', function()
      for _, n in ipairs{1, 6, 1023, 8193, 100003} do
         local x, y = numbers(-4, 4, n), numbers(-4, 5, n)
         for _, first in ipairs{1, 2} do
            local function all(whole, other)
               local a = whole:narrow(1, first, n - first + 1)
               local b = other:narrow(1, first, n - first + 1)
               return {a:sum(), a:norm(), a:max(), a:min(), a:dot(b), a:dist(b, 1), a:equal(b)}
            end
            if first <= n then assert.same(all(x, y), all(x:cuda(), y:cuda())) end
         end
      end
      local n = 4096 * 8192 + 5 -- blocks process more than one tile
      local x = torch.CudaByteTensor(n):fill(1)
      x[n - 1] = 3
      assert.equal(n + 2, x:sum())
      assert.equal(3, x:max())
   end)

   it('select the first of equal extremes, and a NaN before all', function()
      for _, size in ipairs{{3, 9}, {2, 5000}, {2, 9001}} do
         both.agree(both.reals, function(make)
            local x = numbers(0, 2, unpack(size))
            local odd = x:clone()
            odd[1][size[2] - 1], odd[1][size[2]] = 0 / 0, math.huge
            odd[2][3], odd[2][7], odd[2][1] = 0 / 0, 0 / 0, -math.huge
            local list = {}
            for _, t in ipairs{make(x), make(odd), make(odd:t():contiguous()):t()} do
               for _, f in ipairs{t.max, t.min} do
                  list[#list + 1], list[#list + 2] = f(t, 2)
               end
            end
            return unpack(list)
         end)
      end
   end)

   it('of equal elements have no variance: x:std(1):eq(0) finds constant columns', function()
      for _, n in ipairs{2, 3, 10, 33, 1000, 12345} do
         both.agree(both.reals, function(make)
            local x = make(torch.DoubleTensor{0.1, 1 / 3, -7.7}:view(1, 3):expand(n, 3):clone())
            local rows = x:t():contiguous()
            for _, t in ipairs{x:var(1), x:std(1), rows:var(2), rows:std(2), rows:t():var(1)} do
               assert.equal(0, t:double():abs():max())
            end
            assert.equal(0, x:select(2, 1):var())
            return x:var(1)
         end)
      end
   end)
end)
