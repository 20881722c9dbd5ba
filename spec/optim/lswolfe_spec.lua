-- optim.lswolfe: a line search with the strong Wolfe conditions.
local search = require 'spec.support.search'
local rosenbrock, distance, bad = search.rosenbrock, search.distance, search.bad

describe('optim.lswolfe', function()
   it('finds a point of the strong Wolfe conditions, and tries points in x', function()
      for _, first in ipairs{1e-4, 0.01, 1, 50} do
         local x = torch.DoubleTensor{-1.2, 1}
         local f, g = rosenbrock(x)
         local d = -g
         local slope = g:dot(d)
         search.calls = 0
         local function seen(v)
            assert.is_true(rawequal(v, x))
            return rosenbrock(v)
         end
         local value, gradient, y, t, n = optim.lswolfe(seen, x, first, d, f, g, slope)
         assert.equal(search.calls, n)
         assert.is_true(rawequal(x, y))
         assert.is_true(distance(x, {-1.2 + t * d[1], 1 + t * d[2]}) < 1e-12)
         local again, slopes = rosenbrock(x)
         assert.is_true(math.abs(again - value) < 1e-9)
         assert.is_true(distance(gradient, slopes:totable()) < 1e-6)
         assert.is_true(value <= f + 1e-4 * t * slope)
         assert.is_true(math.abs(gradient:dot(d)) <= -0.9 * slope)
      end
      local x = torch.DoubleTensor{1, 1}
      bad("optim.lswolfe: argument 'd' is nil, wanted a tensor", optim.lswolfe, rosenbrock, x, 1)
      bad("optim.lswolfe: argument 't' is nil, wanted a number", optim.lswolfe, rosenbrock, x,
         nil, x, 1, x, 1)
   end)
end)
