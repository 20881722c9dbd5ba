-- dpt.optim.arguments: checks of the arguments of optimization methods.
local arguments = require 'dpt.optim.arguments'
local descent = require 'spec.support.descent'
local bad = descent.bad

describe('dpt.optim.arguments', function()
   local f, x
   before_each(function() f, x = descent.problem() end)

   it('returns config as state if there is no state, and tables for missing ones', function()
      local config, state = arguments.check('sgd', f, x)
      assert.same({{}, {}}, {config, state})
      assert.equal(config, state)
      local given, kept = {learningRate = 1}, {}
      assert.same({given, kept}, {arguments.check('sgd', f, x, given, kept)})
      assert.equal(given, select(2, arguments.check('sgd', f, x, given)))
   end)

   it('accepts a callable table as opfunc', function()
      local before = f(x)
      optim.sgd(setmetatable({}, {__call = function(_, v) return f(v) end}), x, {})
      assert.is_true(f(x) < before)
   end)

   it('accepts numbers as strings, as options of a command line may be', function()
      for method, fields in pairs{sgd = {learningRate = 0.1, learningRateDecay = 0.1,
         momentum = 0.5, dampening = 0.1, weightDecay = 0.1},
         adam = {learningRate = 0.1, learningRateDecay = 0.1, beta1 = 0.8, beta2 = 0.9,
         epsilon = 1e-3, weightDecay = 0.1}, lbfgs = {maxEval = 2}} do
         for field, value in pairs(fields) do
            local a, b = x:clone(), x:clone()
            for _ = 1, 2 do
               optim[method](f, a, {[field] = value})
               optim[method](f, b, {[field] = tostring(value)})
            end
            assert.equal(0, (a - b):abs():max())
            bad(("optim.%s: argument '%s' is a string, wanted a number"):format(method, field),
               function() optim[method](f, a, {[field] = 'high'}) end)
         end
      end
   end)

   it('rejects values that are not functions, tensors or tables, by name', function()
      bad("optim.de: argument 'f' is a string, wanted a function", arguments.callable, 'de', 'f',
         'x')
      bad("optim.de: argument 'x' is a table, wanted a tensor", arguments.tensor, 'de', 'x', {})
      bad("optim.de: argument 'c' is a number, wanted a table", arguments.table, 'de', 'c', 1)
      assert.same({}, arguments.table('de', 'c', nil))
   end)

   it('rejects a result of opfunc that is not a number', function()
      local value, gradient = arguments.evaluate('cg', f, x)
      assert.is_true(type(value) == 'number' and torch.isTensor(gradient))
      bad("optim.cg: opfunc's value is a string, wanted a number", arguments.evaluate, 'cg',
         function() return 'one', x end, x)
   end)

   it('rejects stale flat parameters', function()
      local net = nn.Linear(2, 2)
      local flat, gradient = net:getParameters()
      net:double()
      net.weight = net.weight:clone()
      net.gradWeight = net.gradWeight:clone()
      net:getParameters()
      bad("optim.sgd: argument 'x' holds parameters that have moved elsewhere, since the network"
         .. ' was changed or flattened anew: call getParameters again', optim.sgd,
         function() return 1, gradient end, flat, {})
   end)
end)
