-- optim.rprop: resilient backpropagation, against its formula.
local descent = require 'spec.support.descent'

descent.describe 'rprop'

describe('optim.rprop', function()
   it('runs niter iterations per call', function()
      local state, f, x = {}, descent.problem()
      local _, values = optim.rprop(f, x, {niter = 5}, state)
      assert.equal(5, #values)
      assert.is_true(descent.distance(descent.expected('rprop', {}, 5), x) < 1e-12)
   end)
end)
