-- optim.polyinterp: the minimum of a cubic between two points.
local bad = require('spec.support.search').bad

describe('optim.polyinterp', function()
   it('returns the minimum of a cubic, within bounds', function()
      local function cubic(t) return {t, t ^ 3 - 3 * t + 1, 3 * t * t - 3} end -- least at 1
      for _, pair in ipairs{{0, 2}, {2, 0}, {0.5, 1.25}} do
         local points = {cubic(pair[1]), cubic(pair[2])}
         assert.is_true(math.abs(optim.polyinterp(points) - 1) < 1e-12)
         assert.is_true(math.abs(optim.polyinterp(torch.DoubleTensor(points)) - 1) < 1e-12)
      end
      assert.equal(1.5, optim.polyinterp({cubic(0), cubic(2)}, 1.5, 2))
      assert.equal(0.5, optim.polyinterp({cubic(0), cubic(2)}, 0, 0.5))
      assert.equal(0.5, optim.polyinterp{{0, 1, 0}, {1, 1, 0}}) -- flat
      assert.equal(3, optim.polyinterp{{3, 1, 1}, {3, 1, 1}}) -- one place
      bad('optim.polyinterp: the points are a nil, wanted two rows {x, value, slope}',
         optim.polyinterp)
      bad('optim.polyinterp: the points are a list of 3, wanted two rows {x, value, slope}',
         optim.polyinterp, {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}})
   end)
end)
