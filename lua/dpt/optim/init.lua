--- dpt.optim: the table `optim`: methods of descent, one function a file, and tools for training.
--
-- Invariant: every name is a field from the start, but its file is loaded when it is called or
-- touched. Every method has the form method(opfunc, x, config, state), opfunc(x) returns f(x) and
-- its gradient, x changes in place; it runs where x is.
local class = require 'dpt.class'
local placed = require 'dpt.optim.placed'
local scope = require 'dpt.device.scope'

--- Functions, as name:how many functions stand before x; 1 if nothing is said.
local functions = [[
   sgd adam adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg FistaLS:3 cmaes de lswolfe
   polyinterp checkgrad
]]
local classes = 'ConfusionMatrix Logger ZeroRedundancyOptimizer'

local optim = {}
class.packages.optim = optim

for name, before in functions:gmatch '(%w+):?(%d*)' do
   local f
   optim[name] = function(...)
      f = f or placed(require('dpt.optim.' .. name), tonumber(before) or 1)
      return scope.call('update', f, ...)
   end
end
for name in classes:gmatch '%w+' do
   optim[name] = class.declare('optim.' .. name, nil, 'dpt.optim.' .. name)
end

return optim
