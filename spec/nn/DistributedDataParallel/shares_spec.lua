-- dpt.nn.DistributedDataParallel.shares: the weight of each rank's gradient.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local denominators = require 'dpt.nn.denominators'
local shares = require 'dpt.nn.DistributedDataParallel.shares'
local N, R, D, S, M, U = shares.NONE, shares.ROWS, shares.DENOMINATOR, shares.SUM, shares.MIXED,
   shares.UNKNOWN

describe('dpt.nn.DistributedDataParallel.shares', function()
   -- Stands in for a group of three ranks.
   local three = {rank = function() return 2 end, globalRank = function(_, r) return r end}
   local input = torch.randn(3, 2):float()

   before_each(function() denominators.enabled = true end)
   after_each(function()
      denominators.enabled = false
      denominators.markUsed()
   end)

   local function gradient(criterion)
      criterion:float():forward(input, input)
      return criterion:backward(input, input)
   end

   local function weigh(t, rows, given) return shares.of(t, rows, shares.termsOf(t, given)) end

   local function of(...)
      local own = weigh(...)
      return {own.weight, own.kind}
   end

   it('are of a denominator, of rows, of a sum, or unknown', function()
      assert.same({6, D}, of(gradient(nn.MSECriterion()), 3))
      assert.same({1, S}, of(gradient(nn.MSECriterion(false)), 3))
      assert.same({0, N}, of(gradient(nn.MSECriterion()), 0))
      local sums = nn.MultiCriterion():add(nn.MSECriterion(false)):add(nn.AbsCriterion(false))
      assert.same({1, S}, of(gradient(sums), 3))
      assert.same({6, M}, of(gradient(sums:add(nn.MSECriterion())), 3))
      assert.same({3, U}, of(input, 3))
      denominators.markUsed()
      assert.same({3, R}, of(input, 3))
      assert.same({5, D}, of(input, 3, {denominator = 5}))
      assert.same({1, S}, of(gradient(nn.MSECriterion()), 3, {denominator = false}))
      assert.same({0, N}, of(input, 0, {denominator = 5}))
   end)

   it('have entries of a table', function()
      local table = {gradient(nn.MSECriterion()), {gradient(nn.MSECriterion(false))}}
      local own = weigh(table, 3)
      assert.equal(M, own.kind)
      assert.equal(2, own.entries)
      local function exchange(given) -- another rank, whose loss has twice the elements
         assert.same({6, D, 1, S}, {given[1], given[2], given[4], given[5]})
         return {given, {12, D, given[3], 1, S, 0}, {0, N, 0, 0, N, 0}}
      end
      local found = shares.ofEntries(own, exchange, 2, three)
      assert.same({1 / 3, 1}, {found[table[1]], found[table[2][1]]})
      assert.error_matches(function()
         shares.ofEntries(own, function(given) return {given, {1, S, 0, 1, S, 0}} end, 2, three)
      end, 'entry 1 of the gradient: the gradient of rank 0 was divided by the', 1, true)
   end)

   it('are added up, but for sums', function()
      local function sum(list)
         for r, own in ipairs(list) do
            list[r] = {weight = own[1], kind = own[2], ratio = own[3] or 0}
         end
         return shares.sum(list, three)
      end
      assert.same({5, true}, {sum{{2, R}, {0, N}, {3, R}}})
      assert.same({1, false}, {sum{{0, N}, {1, S}, {1, S}}})
      assert.same({0, true}, {sum{{0, N}}})
      assert.same({7, true}, {sum{{0, D, 0}, {3, D, 0.5}, {4, D, 0.5 + 1e-8}}})
      for said, list in pairs{
         ["gradient of rank 1 was divided by rows, that of rank 2 by the criterion's denominator"] =
            {{0, N}, {1, R}, {3, D}},
         ['have other ratios on rank 2 than on rank 1'] = {{0, D, 0}, {3, D, 0.5}, {4, D, 0.6}},
         ['are means, and some sums'] = {{0, N}, {3, M}},
         ["gradOutput of rank 1 is no criterion's gradient"] = {{2, D}, {3, U}},
      } do
         local total, why = sum(list)
         assert.is_nil(total)
         assert.matches(said, why, 1, true)
      end
   end)

   it('of several terms depend on their ratios', function()
      local function ratio(a, b)
         denominators.record(input, {{denominator = a}, {denominator = b}}, 'nn.X', input)
         return weigh(input, 3)
      end
      assert.is_true(shares.areCompatible(ratio(2, 6), ratio(5, 15)))
      assert.is_false(shares.areCompatible(ratio(2, 6), ratio(6, 2)))
      assert.is_false(shares.areCompatible(ratio(2, 6), ratio(2, 7)))
      assert.is_true(shares.areCompatible(ratio(2, 6), ratio(0, 0)))
      assert.is_true(shares.areCompatible(ratio(nil, 6), ratio(torch.FloatTensor{3}, 6)))
   end)

   it('raise for unusable weights, and for a wrong argument', function()
      assert.equal(1, shares.check({weight = 1, kind = R, ratio = 0}, three).weight)
      local unknown = {weight = 1, kind = U, criterion = 'nn.X'}
      assert.error_matches(function() shares.check(unknown, three) end,
         'of rank 2 is .- since the last backward a nn.X has run there')
      assert.equal(0, shares.termsOf(input, {denominator = 0})[1].denominator)
      for _, wrong in ipairs{3, 'x', {}, {denominator = true}, {denominator = -1},
         {denominator = 0 / 0}, {denominator = 1 / 0}, {denominator = 1, rows = 2}, {rows = 2}} do
         assert.error_matches(function() shares.termsOf(input, wrong) end,
            'argument 4 of backward is .*, wanted {denominator = n}')
      end
   end)

   it('multiply gradients in memory that is kept', function()
      local tree = {torch.FloatTensor{1, 2}, {torch.DoubleTensor{3}}, 'x', name = torch.ones(2)}
      local first = shares.multiplied(nil, tree, 2)
      assert.same({2, 4}, first[1]:totable())
      assert.same({{6}, {2, 2}, 'x'}, {first[2][1]:totable(), first.name:totable(), first[3]})
      local second = shares.multiplied(first, tree, {[tree[1]] = 3})
      assert.equal(first[1], second[1])
      assert.same({{3, 6}, {0}}, {second[1]:totable(), second[2][1]:totable()})
      local expanded = torch.FloatTensor{5}:expand(3)
      assert.same({10, 10, 10}, shares.multiplied(torch.DoubleTensor(), expanded, 2):totable())
   end)
end)
