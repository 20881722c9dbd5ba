--- dpt.optim: the table `optim`: methods of descent, one function a file, and tools for training.
--
-- Invariant: every name is a field from the start, but its file is loaded when it is called or
-- touched. Every method has the form method(opfunc, x, config, state), opfunc(x) returns f(x) and
-- its gradient, x changes in place; it runs where x is.
local class = require 'dpt.class'
local halves = require 'dpt.optim.halves'
local placed = require 'dpt.optim.placed'
local scope = require 'dpt.device.scope'

local descents = 'sgd adam adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg'
--- Other functions, as name:the number of functions before x (1 if omitted).
local others = 'FistaLS:3 cmaes de lswolfe polyinterp checkgrad'
local classes = 'ConfusionMatrix Logger ZeroRedundancyOptimizer'

local optim = {}
class.packages.optim = optim

local function add(name, load)
   local f
   optim[name] = function(...)
      f = f or load(require('dpt.optim.' .. name))
      return scope.call('update', f, ...)
   end
end
for name in descents:gmatch '%w+' do
   add(name, function(method) return placed(halves(name, method), 1) end)
end
for name, before in others:gmatch '(%w+):?(%d*)' do
   add(name, function(f) return placed(f, tonumber(before) or 1) end)
end
for name in classes:gmatch '%w+' do
   optim[name] = class.declare('optim.' .. name, nil, 'dpt.optim.' .. name)
end

return optim
