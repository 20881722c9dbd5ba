-- dpt.parallel.ranks.weights: how much the gradient of each rank counts.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local weights = require 'dpt.parallel.ranks.weights'

describe('dpt.parallel.ranks.weights', function()
   before_each(function() weights.noted = true end)
   after_each(function() weights.noted = false end)

   local function gradient(criterion, input, target)
      criterion:forward(input, target)
      return criterion:backward(input, target)
   end

   it('are what the criterion divides by', function()
      local input = torch.randn(3, 2):float()
      local nll = nn.ClassNLLCriterion(torch.Tensor{1, 3}):float()
      assert.same({7, weights.DENOMINATOR}, {weights.of(gradient(nll, input,
         torch.Tensor{2, 1, 2}), 3)})
      assert.same({6, weights.DENOMINATOR}, {weights.of(gradient(nn.MSECriterion():float(), input,
         input), 3)})
      local sum = nn.MSECriterion(false):float()
      assert.same({1, weights.SUM}, {weights.of(gradient(sum, input, input), 3)})
   end)

   it('are rows if that is unknown, and nothing without rows', function()
      local input = torch.randn(3, 2):float()
      assert.same({3, weights.ROWS}, {weights.of(input, 3)})
      assert.same({0, weights.NONE}, {weights.of(input, 0)})
      weights.noted = false
      assert.same({3, weights.ROWS}, {weights.of(gradient(nn.AbsCriterion():float(), input, input),
         3)})
   end)

   it('are those of the criterion that noted if another tensor is passed on', function()
      local input = torch.randn(3, 2):float()
      local sum, mean = nn.MSECriterion(false):float(), nn.MSECriterion():float()
      local function of(t) return {weights.of(t, 3)} end
      for _, change in ipairs{function(t) return t * 0.3 end, function(t) return t:clone() end,
         function(t) return t:view(2, 3) end, function(t) return t:double() end} do
         local other = change(gradient(sum, input, input))
         assert.same({1, weights.SUM}, of(other))
         assert.same({1, weights.SUM}, of(other)) -- updateGradInput, then accGradParameters
         other:add(1)
         assert.same({3, weights.ROWS}, of(other)) -- a script's own numbers in the same tensor
      end
      assert.same({3, weights.ROWS}, of(input:clone()))
      -- of a sum and a mean: it may be of either or of both
      local function both() return gradient(sum, input, input) + gradient(mean, input, input) end
      local count, kind, terms = weights.of(both(), 3)
      assert.same({2, weights.TERMS, false, 6},
         {count, kind, terms[1].denominator, terms[2].denominator})
      for _ = 1, 3 do both() end -- a criterion counts once
      local summed = both()
      assert.equal(2, (weights.of(summed, 3)))
      assert.error_matches(function() weights.weigh('net', summed, {1, 0.5}) end,
         "since it is none of a criterion's own", 1, true)
      -- of another size: it came through a network, and which criterion's it was is unknown
      both()
      assert.same({3, weights.ROWS}, of(torch.rand(3, 4)))
      gradient(mean, input, input)
      assert.same({6, weights.DENOMINATOR}, of(torch.rand(3, 4)))
      -- in a buffer that stays, step by step
      local buffer = input.new()
      for step, criterion in ipairs{sum, mean, sum} do
         local g = gradient(criterion, input, input)
         buffer:resizeAs(g):copy(g)
         assert.equal(step == 2 and weights.DENOMINATOR or weights.SUM, of(buffer)[2])
      end
      -- through another network
      local g, back = gradient(sum, input, input), input:clone()
      of(g)
      weights.follow(g, back)
      assert.same({1, weights.SUM}, of(back))
      weights.follow(input, back)
      assert.same({3, weights.ROWS}, of(back))
   end)

   it('are those of each term if a loss has several', function()
      local input = torch.randn(3, 2):float()
      local one = nn.MultiCriterion():add(nn.MSECriterion()):float()
      assert.same({6, weights.DENOMINATOR}, {weights.of(gradient(one, input, input), 3)})
      local several = nn.MultiCriterion():add(nn.MSECriterion(), 2):add(nn.AbsCriterion(false))
         :float()
      local found = gradient(several, input, input:clone():add(1))
      local count, kind, list = weights.of(found, 3)
      assert.same({2, weights.TERMS}, {count, kind})
      assert.same({6, false}, {list[1].denominator, list[2].denominator})
      weights.weigh('net', found, {0.5, 1})
      local expected = nn.MSECriterion():float():updateGradInput(input, input:clone():add(1))
         + nn.AbsCriterion(false):float():updateGradInput(input, input:clone():add(1))
      assert.is_true((found - expected):abs():max() < 1e-6)
      found:mul(2)
      assert.error_matches(function() weights.weigh('net', found, {0.5, 1}) end,
         'cannot be computed once more, since a script has written to it', 1, true)
      local same = nn.AbsCriterion()
      several = nn.MultiCriterion():add(same):add(same):float()
      found = gradient(several, input, input)
      assert.error_matches(function() weights.weigh('net', found, {0.5, 1}) end,
         'a nn.AbsCriterion stands in it more than once', 1, true)
   end)

   it('are not asked for if there is no gradient', function()
      local criterion = nn.Criterion()
      criterion.updateGradInput = function() return nil end
      assert.is_nil(criterion:backward(torch.rand(2), 1))
   end)

   it('are added up, but for sums, and do not mix', function()
      local R, D, S, N = weights.ROWS, weights.DENOMINATOR, weights.SUM, weights.NONE
      assert.same({5, true}, {weights.sum('net', {{2, R}, {0, N}, {3, R}}, 1, 2)})
      assert.same({1, false}, {weights.sum('net', {{0, N}, {1, S}, {1, S}}, 1, 2)})
      assert.same({0, true}, {weights.sum('net', {{0, N}}, 1, 2)})
      assert.error_matches(function() weights.sum('net', {{0, N}, {1, R}, {3, D}}, 1, 2) end,
         "net: the gradient of rank 1 was divided by rows, that of rank 2 by the criterion's"
         .. ' denominator', 1, true)
   end)

   it('have a zero that changes no bit', function()
      for _, x in ipairs{0, -1 / math.huge, 1e-40, -3} do
         assert.equal(1 / x, 1 / (x + weights.NOTHING))
      end
   end)
end)
