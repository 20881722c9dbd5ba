-- optim.de: differential evolution.
local search = require 'spec.support.search'
local types, make, distance, bad = search.types, search.make, search.distance, search.bad

local function skewed(x) return (x[1] - 0.5) ^ 2 + 100 * (x[2] + 0.25) ^ 2 end

describe('optim.de', function()
   local config = {popsize = 12, scaleFactor = 0.6, crossoverRate = 0.8, maxFEs = 1000,
      minRegion = -3, maxRegion = 3}

   it('finds the minimum from function values alone, and does not change x', function()
      for _, typename in ipairs{types[1], types[#types]} do
         local x = make(typename, {2, 2})
         local y, values = optim.de(skewed, x, config)
         assert.is_true(distance(y, {0.5, -0.25}) < 1e-2)
         assert.equal(1008, values:nElement()) -- only complete generations
         assert.is_true(math.abs(values:min() - skewed(y)) < 1e-6)
         assert.equal(0, distance(x, {2, 2}))
      end
   end)

   it('finds the same point each time, independently of earlier draws', function()
      local x = make(types[1], {2, 2})
      torch.manualSeed(1)
      local y = optim.de(skewed, x, config)
      torch.manualSeed(2)
      assert.equal(0, distance(y, optim.de(skewed, x, config):totable()))
   end)

   it('raises for an option that is missing', function()
      bad('optim.de: maxFEs is nil, wanted a number', optim.de, skewed, make(types[1], {1, 1}),
         {scaleFactor = 1, crossoverRate = 1})
   end)
end)
