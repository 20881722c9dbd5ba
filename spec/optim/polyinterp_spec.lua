-- optim.polyinterp: the minimum of a cubic between two points.
local bad = require('spec.support.search').bad

describe('optim.polyinterp', function()
   it('returns the minimum of a cubic, within bounds', function()
      local function cubic(t) return {t, t ^ 3 - 3 * t + 1, 3 * t * t - 3} end -- minimum at 1
      for _, pair in ipairs{{0, 2}, {2, 0}, {0.5, 1.25}} do
         local points = {cubic(pair[1]), cubic(pair[2])}
         assert.is_true(math.abs(optim.polyinterp(points) - 1) < 1e-12)
         assert.is_true(math.abs(optim.polyinterp(torch.DoubleTensor(points)) - 1) < 1e-12)
      end
      assert.equal(1.5, optim.polyinterp({cubic(0), cubic(2)}, 1.5, 2))
      assert.equal(0.5, optim.polyinterp({cubic(0), cubic(2)}, 0, 0.5))
      assert.equal(0.5, optim.polyinterp{{0, 1, 0}, {1, 1, 0}}) -- flat
      assert.equal(3, optim.polyinterp{{3, 1, 1}, {3, 1, 1}}) -- both points coincide
      local wanted = ', wanted rows {x, value, slope}, two or more'
      bad('optim.polyinterp: the points are a nil' .. wanted, optim.polyinterp)
      bad('optim.polyinterp: the points are a list of 1' .. wanted, optim.polyinterp, {{0, 1, 1}})
      bad('optim.polyinterp: the points are a list of 2' .. wanted, optim.polyinterp,
         {{0, 1, 1}, {1, 1}})
   end)

   it('compares values within bounds outside the points, as Torch7 does', function()
      -- results of torch/optim's function
      for _, case in ipairs{
         {{{-0.4480, -0.5267, -1.9219}, {0.3268, -1.2778, -0.5968}}, 0.33460, 3.26848, 3.26848},
         {{{0.0883, -0.5694, -1.6520}, {0.2315, 1.0931, -1.6905}}, 0.23295, 2.31522, 2.31522},
      } do
         local points, low, high, least = unpack(case)
         assert.near(least, (optim.polyinterp(points, low, high)), 1e-9)
         assert.near(least, (optim.polyinterp(torch.DoubleTensor(points), low, high)), 1e-9)
      end
   end)

   it('interpolates more than two points, and returns the value', function()
      local points = {}
      for i, t in ipairs{-1, 0.5, 2} do -- (t - 1)^4, minimum at 1
         points[i] = {t, (t - 1) ^ 4 + 2, 4 * (t - 1) ^ 3}
      end
      local where, least = optim.polyinterp(points)
      assert.near(1, where, 1e-3)
      assert.near(2, least, 1e-9)
      assert.same({1.5, math.huge}, {optim.polyinterp({{1, 0 / 0, 1}, {2, 0, 0}}, 1, 2)})
   end)
end)
