-- dpt.parallel.params.buckets: flat gradients cut into buckets of whole parameters.
local dpt = require 'dpt'
local torch = dpt.torch
local buckets = require 'dpt.parallel.params.buckets'

describe('dpt.parallel.params.buckets', function()
   local limits = {buckets.first, buckets.rest}
   after_each(function() buckets.first, buckets.rest = unpack(limits) end)

   it('cuts whole parameters, the last ones first', function()
      local plan = {}
      local function half(sizes)
         local result, first = {total = 0}, 1
         for i, size in ipairs(sizes) do
            result[i] = {index = #sizes + i, first = first, size = {size}, stride = {1}}
            first = first + size
         end
         return result
      end
      plan[1], plan[2] = half{10, 20, 30, 5, 5}, half{10, 20, 30, 5, 5}
      buckets.first, buckets.rest = 40, 120
      local list, place = buckets.cut(plan, {{}, {torch.FloatTensor()}}, 5)
      assert.same({3, 3, 2, 1, 1}, place)
      assert.same({{{half = 2, first = 61, last = 70}}, {{half = 2, first = 31, last = 60}},
         {{half = 2, first = 1, last = 30}}}, list)
      buckets.first, buckets.rest = 4, 1e6
      assert.same({2, 2, 2, 2, 1}, (select(2, buckets.cut(plan, {{}, {torch.FloatTensor()}}, 5))))
   end)

   it('lets no bucket have more than a share of all, but none is cut for less than it is worth',
      function()
         local half = {total = 64 * 65536}
         for i = 1, 64 do -- of 1/4 MB each
            half[i] = {index = 64 + i, first = 65536 * (i - 1) + 1, size = {65536}, stride = {1}}
         end
         local segments = {{}, {torch.FloatTensor()}}
         local list, place = buckets.cut({half, half}, segments, 64)
         local counts = {}
         for _, b in ipairs(place) do counts[b] = (counts[b] or 0) + 1 end
         assert.equal(9, #list)
         assert.same({4, 8, 8, 8, 8, 8, 8, 8, 4}, counts) -- 1 MB, then 1/8 of 16 MB
         local few = {total = 4 * 65536, unpack(half, 1, 4)}
         for i = 1, 4 do
            few[i] = {index = 4 + i, first = half[i].first, size = {65536}, stride = {1}}
         end
         assert.equal(4, #buckets.cut({few, few}, segments, 4)) -- `least`, not an eighth
      end)

   it('cuts in the order in which gradients were full, what was never full last', function()
      local half = {total = 40}
      for i = 1, 4 do
         half[i] = {index = 4 + i, first = 10 * i - 9, size = {10}, stride = {1}}
      end
      buckets.first, buckets.rest = 40, 40
      local segments = {{}, {torch.FloatTensor()}}
      assert.same({4, 3, 2, 1}, (select(2, buckets.cut({half, half}, segments, 4))))
      assert.same({1, 4, 2, 3}, (select(2, buckets.cut({half, half}, segments, 4, {2, 0, 5, 7}))))
   end)

   it('keeps parameters that share elements in one bucket, and leaves empty ones out', function()
      local half = {total = 8, {index = 4, first = 1, size = {6}, stride = {1}},
         {index = 6, first = 4, size = {5}, stride = {1}}}
      buckets.first, buckets.rest = 4, 4
      local list, place = buckets.cut({half, half}, {{}, {torch.FloatTensor()}}, 3)
      assert.same({1, 0, 1}, place)
      assert.same({{{half = 2, first = 1, last = 8}}}, list)
   end)
end)
