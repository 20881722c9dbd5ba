-- optim.ZeroRedundancyOptimizer with one rank; spec/distributed/user_issues_spec.lua has several.
local dpt = require 'dpt'
local torch, optim = dpt.torch, dpt.optim

describe('optim.ZeroRedundancyOptimizer', function()
   it('is the method in a world of one', function()
      local zero = optim.ZeroRedundancyOptimizer(optim.adam)
      local x, y, a, b = torch.ones(5), torch.ones(5), {}, {}
      for _ = 1, 3 do
         local got, fx = zero(function() return 2, torch.range(1, 5) end, x, {}, a)
         assert.is_true(rawequal(got, x))
         assert.same({2}, fx)
         optim.adam(function() return 2, torch.range(1, 5) end, y, {}, b)
      end
      assert.same(y:totable(), x:totable())
      local whole = zero:whole(a)
      assert.same(b.m:totable(), whole.m:totable())
      assert.equal(3, whole.t)
   end)

   it('requires an elementwise method', function()
      for _, name in ipairs{'lbfgs', 'cg', 'cmaes', 'de'} do
         assert.error_matches(function() optim.ZeroRedundancyOptimizer(optim[name]) end,
            'optim.' .. name .. ' looks at all parameters at once', 1, true)
      end
      assert.error_matches(function() optim.ZeroRedundancyOptimizer(3) end,
         "argument 'method' is a number, wanted a function", 1, true)
      assert.error_matches(function() optim.ZeroRedundancyOptimizer(optim.sgd):whole(2) end,
         'whole wants the table of the state as argument 1, got number', 1, true)
   end)
end)
