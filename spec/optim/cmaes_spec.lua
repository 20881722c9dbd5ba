-- optim.cmaes: evolution strategy with covariance matrix adaptation.
local search = require 'spec.support.search'
local types, make, distance, bad = search.types, search.make, search.distance, search.bad

local function skewed(x) return (x[1] - 0.5) ^ 2 + 100 * (x[2] + 0.25) ^ 2 end

describe('optim.cmaes', function()
   it('finds the minimum from function values alone, and does not change x', function()
      for _, typename in ipairs{types[1], types[#types]} do
         local x = make(typename, {2, 2})
         torch.manualSeed(2)
         local z, history, evaluations = optim.cmaes(function(v) return skewed(v:view(2)) end,
            x:view(2, 1), {sigma = 0.5, ftarget = 1e-6, maxEval = 3000})
         assert.same({2, 1}, z:size():totable())
         assert.equal(typename, z:type())
         assert.is_true(distance(z:view(2), {0.5, -0.25}) < 1e-2)
         assert.equal(skewed(x), history[1])
         assert.is_true(history[#history] <= 1e-6 and evaluations <= 3000)
         assert.equal(0, distance(x, {2, 2}))
      end
   end)

   it('raises for an option that is missing', function()
      bad('optim.cmaes: sigma is nil, wanted a number', optim.cmaes, skewed,
         make(types[1], {1, 1}))
   end)
end)
