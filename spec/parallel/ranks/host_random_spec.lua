-- dpt.parallel.ranks.host_random: random draws of host tensors in passes of ranks.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local hostRandom = require 'dpt.parallel.ranks.host_random'

describe('dpt.parallel.ranks.host_random', function()
   local sizes = {3, 0, 5, 1}
   local total = 9

   -- Returns the numbers that f(rows) draws for each part, and the next number drawn after each.
   local function parts(f)
      local list, first, nexts = {}, 0, {}
      for i, rows in ipairs(sizes) do
         torch.manualSeed(3)
         list[i] = hostRandom.within(first, rows, total, f, rows)
         nexts[i] = torch.random()
         first = first + rows
      end
      return list, nexts
   end

   local function agrees(f)
      torch.manualSeed(3)
      local whole = f(total)
      local after = torch.random()
      local list, nexts = parts(f)
      local first = whole:size(1) / total
      local each, at = first, 0
      for i, rows in ipairs(sizes) do
         if rows > 0 then
            assert.same(whole:narrow(1, at * each + 1, rows * each):totable(), list[i]:totable())
         end
         assert.equal(after, nexts[i])
         at = at + rows
      end
   end

   it("draws one process's numbers for rows, and continues after all rows", function()
      agrees(function(n) return torch.FloatTensor(n, 4):uniform() end)
      agrees(function(n) return torch.DoubleTensor(n, 3):normal() end)
      agrees(function(n) return torch.DoubleTensor(n):random() end)
      agrees(function(n)
         return torch.FloatTensor(n, 2, 2):bernoulli(torch.FloatTensor(n, 2, 2):fill(0.3))
      end)
      for _, class in ipairs{'Dropout', 'SpatialDropout'} do
         agrees(function(n)
            return nn[class](0.5):float():forward(torch.FloatTensor(n, 6, 3, 2):fill(1))
         end)
      end
   end)

   it('draws tensors without rows equally, and several tensors by rows', function()
      local list, nexts = parts(function() return torch.FloatTensor(7):uniform() end)
      for i = 2, 4 do
         if sizes[i] ~= 1 then assert.same(list[1]:totable(), list[i]:totable()) end
      end
      assert.equal(nexts[1], nexts[2])
      torch.manualSeed(3)
      local whole = torch.FloatTensor(18):uniform()
      torch.manualSeed(3)
      local part = hostRandom.within(3, 5, 9, function() return torch.FloatTensor(10):uniform() end)
      assert.same(whole:narrow(1, 7, 10):totable(), part:totable())
   end)

   it('ends with a pass, also if that raises', function()
      assert.error_matches(function() hostRandom.within(1, 2, 3, error, 'inside', 0) end, 'inside')
      torch.manualSeed(3)
      local expected = torch.FloatTensor(2):uniform():totable()
      torch.manualSeed(3)
      torch.random()
      torch.manualSeed(3)
      assert.same(expected, torch.FloatTensor(2):uniform():totable())
   end)

   it("draws different numbers if the others' counts of rows are unknown", function()
      local function draw(rank, rows)
         torch.manualSeed(3)
         return hostRandom.assumeEqualRows(rank, 2, rows, function()
            return torch.rand(rows, 4)
         end):totable(), torch.random()
      end
      local a, after = draw(0, 2)
      local b, behind = draw(1, 2)
      local _, other = draw(1, 5)
      assert.not_same(a, b)
      assert.equal(after, behind)
      assert.equal(after, other)
      assert.same(a, (draw(0, 2)))
   end)

   it('detects generators that differ', function()
      torch.manualSeed(3)
      local hash = hostRandom.hash()
      assert.equal(hash, hostRandom.hash())
      torch.random()
      assert.not_equal(hash, hostRandom.hash())
      torch.manualSeed(3)
      assert.equal(hash, hostRandom.hash())
   end)
end)
