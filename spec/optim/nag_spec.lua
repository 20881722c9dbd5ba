-- optim.nag: Nesterov's accelerated gradient, against its formula.
local descent = require 'spec.support.descent'

descent.describe 'nag'

describe('optim.nag', function()
   it('rejects a momentum of 0', function()
      local f, x = descent.problem()
      descent.bad('optim.nag: momentum is 0, wanted a number above 0', optim.nag, f, x,
         {momentum = 0})
   end)
end)
