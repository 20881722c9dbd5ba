-- dpt.parallel.split.weighted: parts of a batch in proportion to weights.
local weighted = require 'dpt.parallel.split.weighted'

local function cut(weights, rows)
   local list, f = {}, weighted(weights, #weights, 'spec')
   for part = 1, #weights do list[part] = f(rows, part) end
   return list
end

describe('dpt.parallel.split.weighted', function()
   it('splits in proportion, with a row for every part if there are enough', function()
      assert.same({6, 2}, cut({3, 1}, 8))
      assert.same({3, 5}, cut({1, 3}, 8))
      assert.same({3, 3, 3}, cut({2, 2, 2}, 9))
      assert.same({1, 1, 0}, cut({1, 1, 100}, 2))
      assert.same({0, 0}, cut({5, 1}, 0))
   end)

   it('covers every row once for any weights', function()
      for rows = 0, 40 do
         for _, weights in ipairs{{1, 2, 3}, {0.1, 7, 0.3, 2}, {1e-9, 1, 1e9}} do
            local sum = 0
            for _, count in ipairs(cut(weights, rows)) do sum = sum + count end
            assert.equal(rows, sum)
         end
      end
   end)

   it('returns nil without weights, and rejects another number of them', function()
      assert.is_nil(weighted(nil, 3, 'spec'))
      assert.error_matches(function() weighted({1, 2}, 3, 'spec') end,
         'spec: weights has 2 numbers, wanted one for each of 3 devices')
   end)
end)
