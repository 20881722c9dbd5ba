-- optim.sgd: stochastic gradient descent, against its formula.
local descent = require 'spec.support.descent'

descent.describe 'sgd'

describe('optim.sgd', function()
   it('rejects a nesterov that has no meaning', function()
      local f, x = descent.problem()
      local wanted = 'optim.sgd: nesterov wants a momentum above 0 and a dampening of 0, got '
      descent.bad(wanted .. '0 and 0', optim.sgd, f, x, {nesterov = true})
      descent.bad(wanted .. '0.5 and 0.5', optim.sgd, f, x, {nesterov = true, momentum = 0.5})
   end)
end)
