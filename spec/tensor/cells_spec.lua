-- Pointwise operations, copies and fills on devices around the boundaries of cells, which hold
-- several elements (csrc/cuda/cells.h): sizes near a cell, unaligned addresses, rows that are cut,
-- repeated or transposed; compared with the host. Memory next to the result must not change.
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local elements = require 'spec.support.elements'

--- Returns a device tensor like the host's `a` at `offset` in a larger one, and a check that the
-- memory around it is unchanged.
local function placed(a, kind, offset)
   local n = a:nElement()
   local all = torch[kind](n + 32):fill(7)
   local view = all:narrow(1, 1 + offset, n):viewAs(a)
   view:copy(a)
   return view, function()
      local left = all:double()
      assert.equal(0, left:narrow(1, 1, offset):ne(7):sum())
      assert.equal(0, left:narrow(1, 1 + offset + n, 32 - offset):ne(7):sum())
   end
end

--- Returns numbers that every type can hold, as are sums and products of two of them.
local function small(...)
   local a = torch.DoubleTensor(...)
   local i = 0
   return a:apply(function()
      i = i + 1
      return i * 7 % 10 + 1
   end)
end

local function other(...) return small(...):mul(-1):add(11) end

local kinds = {}
for i, name in ipairs(both.andReduced('Float', 'Double', 'Byte', 'Short', 'Long')) do
   kinds[i] = elements.onDevice(name) .. 'Tensor'
end

--- By name: f(result, a, b), for tensors of all types; results are compared with doubles.
local operations = {
   copy = function(r, a) r:copy(a) end,
   fill = function(r) r:fill(3) end,
   add = function(r, a) r:add(a, 2) end,
   ['in place'] = function(r, _, b) r:add(b) end,
   ['of two'] = function(r, a, b) r:cmul(a, b) end,
   ['of three'] = function(r, a, b) r:addcmul(a, 1, b, b) end,
}

--- By name: a function that returns a view of `base`.
local layouts = {
   ['wider rows'] = function(base) return base:narrow(2, 1, base:size(2) / 2) end,
   ['rows beside a cell'] = function(base) return base:narrow(2, 2, base:size(2) / 2) end,
   ['every other element'] = function(base)
      return base:view(base:size(1), base:size(2) / 2, 2):select(3, 1)
   end,
   ['one row for all'] = function(base)
      return base:narrow(1, 2, 1):narrow(2, 1, base:size(2) / 2)
         :expand(base:size(1), base:size(2) / 2)
   end,
   ['one column for all'] = function(base)
      return base:narrow(2, 2, 1):expand(base:size(1), base:size(2) / 2)
   end,
   ['one element for all'] = function(base)
      return base:narrow(1, 2, 1):narrow(2, 2, 1):expand(base:size(1), base:size(2) / 2)
   end,
   ['columns'] = function(base)
      return base:narrow(2, 1, base:size(2) / 2):clone():resize(base:size(2) / 2, base:size(1)):t()
   end,
}

describe('Cells of elements:', function()
   for _, kind in ipairs(kinds) do
      it('a ' .. kind .. ' of any size at any address', function()
         for n = 1, 20 do
            local a, b, r = small(n), other(n), torch.DoubleTensor(n):fill(1)
            for offset = 0, n < 10 and 8 or 1 do
               for name, f in pairs(operations) do
                  -- all at the same offset from a cell, or the result at another
                  local x, y = placed(a, kind, offset), placed(b, kind, offset)
                  for _, at in ipairs{offset, 3} do
                     local z, unharmed = placed(r, kind, at)
                     local want = r:clone()
                     f(want, a, b)
                     f(z, x, y)
                     assert.same(want:totable(), z:double():totable(), name)
                     unharmed()
                  end
               end
            end
         end
      end)

      it('a ' .. kind .. ' whose rows are cut, repeated or crossed', function()
         for _, columns in ipairs{1, 3, 4, 8, 12, 33} do
            local base = small(5, 2 * columns)
            local stored = placed(base, kind, 0)
            local apart = torch.DoubleTensor(5, columns):fill(1)
            local b = other(5, columns)
            local y = placed(b, kind, 0)
            for layout, view in pairs(layouts) do
               for name, f in pairs(operations) do
                  local what = layout .. ', ' .. name .. ', ' .. columns
                  local want, z = apart:clone(), placed(apart, kind, 0)
                  f(want, view(base), b)
                  f(z, view(stored), y)
                  assert.same(want:totable(), z:double():totable(), what)
                  if not layout:find 'for all' then -- with the view as result
                     local into, all = base:clone(), placed(base, kind, 0)
                     f(view(into), b, b)
                     f(view(all), y, y)
                     assert.same(into:totable(), all:double():totable(), what)
                  end
               end
            end
         end
      end)
   end

   it('of different types in one walk', function()
      for n = 1, 20 do
         local a = small(n)
         for offset = 0, n < 10 and 8 or 1 do
            for _, kind in ipairs(kinds) do
               local x = placed(a, kind, offset)
               local bytes = torch.CudaByteTensor(n + 32):fill(7)
               local r = bytes:narrow(1, 1 + offset, n)
               r:gt(x, 5)
               assert.same(torch.gt(a, 5):totable(), r:totable())
               assert.equal(7 * 32, bytes:sum() - r:sum())
               for _, to in ipairs(kinds) do
                  local z, unharmed = placed(a, to, offset)
                  z:fill(0):copy(x)
                  assert.same(a:totable(), z:double():totable())
                  unharmed()
               end
            end
         end
      end
   end)

   it('in many dimensions, in any order', function()
      local a = small(3, 4, 2, 8, 3, 4)
      local x = a:cuda()
      for d = 1, 6 do
         for e = d + 1, 6 do
            local p, q = a:transpose(d, e), x:transpose(d, e)
            assert.same((p + 1):totable(), (q + 1):double():totable())
            local r = torch.CudaTensor(q:size()):fill(1)
            assert.same((p * 2 + 1):totable(), r:add(2, q):double():totable())
            assert.same(p:totable(), r:copy(q):double():totable())
         end
      end
   end)
end)
