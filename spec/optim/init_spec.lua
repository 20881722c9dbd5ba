-- The table optim: its names, and when its files are loaded.
local run = require 'spec.support.run'

describe('The table optim', function()
   it('has every method from the start and loads its file at the first call', function()
      local out = run.lua [[
         require 'dpt'
         local names = 'sgd adam adamw adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg '
            .. 'FistaLS cmaes de lswolfe polyinterp checkgrad ema'
         for name in names:gmatch '%a+' do
            assert(type(rawget(optim, name)) == 'function', name)
            assert(not package.loaded['dpt.optim.' .. name], name)
         end
         local x = torch.ones(2)
         local y, values = optim.sgd(function(v) return 7, v:clone() end, x, {learningRate = 0.5})
         assert(package.loaded['dpt.optim.sgd'] and not package.loaded['dpt.optim.adam'])
         print(rawequal(x, y), values[1], x:sum())
      ]]
      assert.equal('true\t7\t1\n', out)
   end)

   it('has its two classes as constructors', function()
      assert.equal('optim.ConfusionMatrix', torch.type(optim.ConfusionMatrix(2)))
      local name = os.tmpname()
      assert.equal('optim.Logger', torch.type(optim.Logger(name)))
      os.remove(name)
   end)
end)
