-- optim.sgd: stochastic gradient descent, against its formula.
local descent = require 'spec.support.descent'
local dpt = require 'dpt'
local torch, optim = dpt.torch, dpt.optim

descent.describe 'sgd'

describe('optim.sgd', function()
   it('rejects a nesterov that has no meaning', function()
      local f, x = descent.problem()
      local wanted = 'optim.sgd: nesterov wants a momentum above 0 and a dampening of 0, got '
      descent.bad(wanted .. '0 and 0', optim.sgd, f, x, {nesterov = true})
      descent.bad(wanted .. '0.5 and 0.5', optim.sgd, f, x, {nesterov = true, momentum = 0.5})
   end)

   it('and optim.adam accept x itself as the gradient', function()
      for name, wanted in pairs{sgd = 0.9 * 2, adam = 2 - 0.1} do
         for _, config in ipairs{{}, {weightDecay = 1e-9}} do
            config.learningRate = 0.1
            local x = torch.Tensor{2}
            optim[name](function(v) return v:dot(v) / 2, v end, x, config)
            assert.is_true(math.abs(x[1] - wanted) < 1e-6, name)
         end
      end
   end)
end)
