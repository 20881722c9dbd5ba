-- optim.adam: Adam, against its formula.
local descent = require 'spec.support.descent'

descent.describe 'adam'

describe('optim.adam', function()
   it("keeps Torch7's denom, with the epsilon of its own config", function()
      local state, f, x = {}, descent.problem()
      optim.adam(f, x, {epsilon = 0.5}, state)
      assert.equal(0, descent.distance(torch.sqrt(state.v):add(0.5), state.denom))
   end)

   it("continues from another method's state, as adamax does", function()
      for _, name in ipairs{'adam', 'adamax'} do
         local f, x = descent.problem()
         local whole, given, y = {}, {m = x:clone():zero(), tmp = 3}, x:clone()
         optim[name](f, x, {}, whole)
         optim[name](f, y, {}, given)
         assert.equal(0, descent.distance(x, y), name)
      end
   end)
end)
