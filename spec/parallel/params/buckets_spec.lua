-- dpt.parallel.params.buckets: flat gradients cut into buckets of whole parameters.
local dpt = require 'dpt'
local torch = dpt.torch
local buckets = require 'dpt.parallel.params.buckets'

describe('dpt.parallel.params.buckets', function()
   local limits = {buckets.first, buckets.rest}
   after_each(function() buckets.first, buckets.rest = unpack(limits) end)

   -- Returns a plan of contiguous gradients of these sizes, and its segments.
   local function plan(sizes)
      local group = {total = 0}
      for i, size in ipairs(sizes) do
         group[i] = {index = #sizes + i, first = group.total + 1, size = {size}, stride = {1}}
         group.total = group.total + size
      end
      return {group, group}, {{}, {torch.FloatTensor()}}, #sizes
   end

   -- Returns the number of each gradient's bucket, and the buckets.
   local function cut(sizes, order)
      local groups, segments, count = plan(sizes)
      local list, place = buckets.cut(groups, segments, count, order)
      return place, list
   end

   it('cuts whole parameters, the last ones first', function()
      buckets.first, buckets.rest = 40, 120
      local place, list = cut{10, 20, 30, 5, 5}
      assert.same({3, 3, 2, 1, 1}, place)
      assert.same({{{group = 2, first = 61, last = 70}}, {{group = 2, first = 31, last = 60}},
         {{group = 2, first = 1, last = 30}}}, list)
      buckets.first, buckets.rest = 4, 1e6
      assert.same({2, 2, 2, 2, 1}, (cut{10, 20, 30, 5, 5}))
   end)

   it('limits a bucket to a share of all, and never cuts below the minimum size',
      function()
         local sizes = {}
         for i = 1, 64 do sizes[i] = 65536 end -- 1/4 MB each
         local place, list = cut(sizes)
         local counts = {}
         for _, b in ipairs(place) do counts[b] = (counts[b] or 0) + 1 end
         assert.equal(9, #list)
         assert.same({4, 8, 8, 8, 8, 8, 8, 8, 4}, counts) -- 1 MB, then 1/8 of 16 MB
         assert.equal(4, #select(2, cut{65536, 65536, 65536, 65536})) -- `least` bytes, not 1/8
      end)

   it('cuts in the order in which gradients were complete, incomplete ones last', function()
      buckets.first, buckets.rest = 40, 40
      assert.same({4, 3, 2, 1}, (cut{10, 10, 10, 10}))
      assert.same({1, 4, 2, 3}, (cut({10, 10, 10, 10}, {2, 0, 5, 7})))
   end)

   it('keeps parameters that share elements in one bucket, and omits empty ones', function()
      local group = {total = 8, {index = 4, first = 1, size = {6}, stride = {1}},
         {index = 6, first = 4, size = {5}, stride = {1}}}
      buckets.first, buckets.rest = 4, 4
      local list, place = buckets.cut({group, group}, {{}, {torch.FloatTensor()}}, 3)
      assert.same({1, 0, 1}, place)
      assert.same({{{group = 2, first = 1, last = 8}}}, list)
   end)
end)
