-- Results with aliased elements (expand, stride 0; on the host also overlapping windows), compared
-- with loops. On the host, each alias updates the element in sequence, as in Torch7's loops; on
-- devices, only the last update remains, as in cutorch.
local both = require 'spec.support.both'
local dpt = require 'dpt'
local torch = dpt.torch

--- By name: f(result, tensor of its size, another) in place, and its effect on one element.
local operations = {
   ['add(k, x)'] = {function(t, x) t:add(2, x) end, function(v, x) return v + 2 * x end},
   ['add(k)'] = {function(t) t:add(3) end, function(v) return v + 3 end},
   mul = {function(t) t:mul(2) end, function(v) return 2 * v end},
   csub = {function(t, x) t:csub(x) end, function(v, x) return v - x end},
   cmul = {function(t, x) t:cmul(x) end, function(v, x) return v * x end},
   addcmul = {function(t, x, y) t:addcmul(2, x, y) end, function(v, x, y) return v + 2 * x * y end},
   cmax = {function(t, x) t:cmax(x) end, function(v, x) return math.max(v, x) end},
   copy = {function(t, x) t:copy(x) end, function(_, x) return x end},
   ['add(x, y)'] = {function(t, x, y) t:add(x, y) end, function(_, x, y) return x + y end},
}

describe('Expanded results:', function()
   for _, kind in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.LongTensor',
      'torch.CudaTensor', 'torch.CudaLongTensor'} do
      for name, operation in pairs(operations) do
         it(name .. ' of a ' .. kind .. ' goes over all places', function()
            local f, one = unpack(operation)
            -- expanded along the first, the last and both dimensions; operands in any layout
            for _, sizes in ipairs{{1, 3}, {4, 1}, {1, 1}} do
               local x = torch.range(1, 12):resize(4, 3):remainder(5):type(kind)
               local y = torch.range(2, 13):resize(3, 4):remainder(3):type(kind):t()
               local base = torch.range(1, sizes[1] * sizes[2]):resize(unpack(sizes)):type(kind)
               local wanted = base:double()
               local first = kind:find 'Cuda' and wanted:clone() or wanted
               for i = 1, 4 do
                  for j = 1, 3 do
                     local a, b = math.min(i, sizes[1]), math.min(j, sizes[2])
                     wanted[a][b] = one(first[a][b], x[i][j], y[i][j])
                  end
               end
               f(base:expand(4, 3), x, y)
               assert.same(wanted:totable(), base:double():totable())
            end
         end)
      end
   end

   for _, kind in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.LongTensor'} do
      it('windows of a ' .. kind .. ' that overlap change an element for each place', function()
         local all = {
            apply = {function(t) t:apply(function(v) return v + 1 end) end,
               function(v) return v + 1 end},
            map = {function(t, x) t:map(x, function(v, e) return v + e end) end,
               function(v, x) return v + x end},
            map2 = {function(t, x, y) t:map2(x, y, function(v, e, f) return v + e * f end) end,
               function(v, x, y) return v + x * y end},
         }
         for name, operation in pairs(operations) do all[name] = operation end
         for name, operation in pairs(all) do
            local f, one = unpack(operation)
            for _, window in ipairs{{8, 3, 1, 6}, {9, 4, 2, 3}, {10, 2, 3, 3}} do
               local n, size, step, rows = unpack(window)
               for _, turned in ipairs{false, true} do
                  local base = torch.range(1, n):type(kind)
                  local wanted = base:double()
                  local places, each = base:unfold(1, size, step), wanted:unfold(1, size, step)
                  if turned then places, each = places:t(), each:t() end
                  local x = torch.range(1, rows * size):remainder(5):resizeAs(each):type(kind)
                  local y = x:clone():add(1)
                  for i = 1, each:size(1) do
                     for j = 1, each:size(2) do each[i][j] = one(each[i][j], x[i][j], y[i][j]) end
                  end
                  f(places, x, y)
                  assert.same(wanted:totable(), base:double():totable(), name)
               end
            end
         end
      end)
   end

   it('patches are summed up by windows', function()
      local image = torch.zeros(4, 4)
      image:unfold(1, 3, 1):unfold(2, 3, 1):add(torch.ones(2, 2, 3, 3))
      assert.same({{1, 2, 2, 1}, {2, 4, 4, 2}, {2, 4, 4, 2}, {1, 2, 2, 1}}, image:totable())
   end)

   it('operands that are one number for each row, or for all, count as whole ones', function()
      for _, kind in ipairs(both.andReduced('Double', 'Float', 'Int', 'Cuda')) do
         local function make(...)
            return torch.rand(...):mul(20):add(1):type(('torch.%sTensor'):format(kind))
         end
         -- rows computed directly, several rows at once, and rows that go through a buffer
         for _, sizes in ipairs{{3, 5, 7, 8}, {2, 3, 50, 50}, {4, 6, 2, 2}} do
            local x, planes, one = make(unpack(sizes)), make(1, sizes[2], 1, 1), make(1, 1, 1, 1)
            for _, by in ipairs{planes:expandAs(x), one:expandAs(x)} do
               local whole = by:contiguous()
               for _, f in ipairs{'add', 'csub', 'cmul', 'cdiv', 'cmax', 'cmin'} do
                  local got, want = x:clone(), x:clone()
                  got[f](got, x, by)
                  want[f](want, x, whole)
                  assert.equal(0, (got:double() - want:double()):abs():max(), kind .. f)
                  got[f](got, by, x)
                  want[f](want, whole, x)
                  assert.equal(0, (got:double() - want:double()):abs():max(), kind .. f)
               end
               assert.equal(0, (x:clone():add(3, by):double() - x:clone():add(3, whole):double())
                  :abs():max())
            end
         end
      end
   end)

   it('elementwise functions apply repeatedly to expanded elements, along any dimensions',
      function()
      for _, sizes in ipairs{{1, 3, 1, 1}, {1, 1, 1, 1}, {2, 1, 1, 2}, {1, 2, 1, 1}} do
         local x = torch.range(1, 24):view(2, 3, 2, 2)
         local base = torch.zeros(unpack(sizes))
         local wanted = base:clone()
         local expanded = {sizes[1] == 1 and 2 or sizes[1], sizes[2] == 1 and 3 or sizes[2], 2, 2}
         x = x:narrow(2, 1, expanded[2])
         for i = 1, expanded[1] do
            for j = 1, expanded[2] do
               for k = 1, 2 do
                  for l = 1, 2 do
                     local at = {math.min(i, sizes[1]), math.min(j, sizes[2]),
                        math.min(k, sizes[3]), math.min(l, sizes[4])}
                     wanted[at] = 2 * wanted[at] + x[i][j][k][l]
                  end
               end
            end
         end
         base:expand(unpack(expanded)):map(x, function(v, e) return 2 * v + e end)
         assert.same(wanted:totable(), base:totable())
      end
      local rows = torch.zeros(2, 1)
      rows:expand(2, 4):apply(function(v) return v + 1 end)
      assert.same({{4}, {4}}, rows:totable())
   end)

   it('a function of elements that raises leaves places that are one element alone', function()
      local base = torch.zeros(4)
      local calls = 0
      assert.has_error(function()
         base:unfold(1, 2, 1):apply(function(v)
            calls = calls + 1
            return calls < 5 and v + 1 or error('no', 0)
         end)
      end, 'no')
      assert.same({0, 0, 0, 0}, base:totable())
   end)

   it('of places that are one element the last in row-major order decides', function()
      for _, kind in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.LongTensor'} do
         for _, sizes in ipairs{{4, 4}, {5, 3}, {67, 33}, {3, 60}} do
            local n, m = unpack(sizes)
            local x = torch.range(1, n * m):view(n, m):type(kind)
            local wanted = torch.zeros(n + 2 * m):type(kind)
            for i = 1, n do
               for j = 1, m do wanted[i + 2 * (j - 1)] = x[i][j] end
            end
            for _, operand in ipairs{x, x:t():clone():t()} do
               local base = wanted:clone():zero()
               local places = base.new(base:storage(), 1, n, 1, m, 2)
               places:copy(operand)
               assert.same(wanted:totable(), base:totable())
               base:zero()
               torch.add(places, operand, 2, operand:clone():zero())
               assert.same(wanted:totable(), base:totable())
            end
         end
      end
   end)

   it('an operand of another form counts by its elements', function()
      local sum = torch.zeros(1, 3)
      sum:expand(2, 3):add(1, torch.range(1, 6))
      assert.same({{5, 7, 9}}, sum:totable())
   end)
end)
