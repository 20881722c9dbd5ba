require 'dpt'
local balanced = require 'dpt.parallel.split.balanced'

describe('dpt.parallel.split.balanced', function()
   local function counts(rows, parts)
      local list = {}
      for part = 1, parts do list[part] = select(2, balanced(rows, part, parts)) end
      return list
   end

   it('splits rows evenly, the larger parts first', function()
      assert.same({3, 2, 2, 2}, counts(9, 4))
      assert.same({3, 3, 2, 2}, counts(10, 4))
      assert.same({1, 1, 0, 0}, counts(2, 4))
      assert.same({0, 0, 0}, counts(0, 3))
      assert.same({5}, counts(5, 1))
   end)

   it('covers every row once, in order', function()
      for parts = 1, 9 do
         for rows = 0, 40 do
            local nextRow, least, most = 1, math.huge, 0
            for part = 1, parts do
               local first, count = balanced(rows, part, parts)
               if count > 0 then assert.equal(nextRow, first) end
               nextRow = nextRow + count
               least, most = math.min(least, count), math.max(most, count)
            end
            assert.equal(rows + 1, nextRow)
            assert.is_true(most - least <= 1)
         end
      end
   end)
end)
