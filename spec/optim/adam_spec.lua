-- optim.adam: Adam, against its formula.
local descent = require 'spec.support.descent'

descent.describe 'adam'

describe('optim.adam', function()
   it("keeps Torch7's denom, with the epsilon of a config of its own", function()
      local state, f, x = {}, descent.problem()
      optim.adam(f, x, {epsilon = 0.5}, state)
      assert.equal(0, descent.distance(torch.sqrt(state.v):add(0.5), state.denom))
   end)
end)
