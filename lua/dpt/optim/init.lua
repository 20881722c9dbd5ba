--- dpt.optim: the table `optim`: methods of descent, one function a file, and tools for training.
-- What must stay true: a file is loaded when its name is asked for; every method has the form
-- method(opfunc, x, config, state), opfunc(x) gives f(x) and its gradient, x changes in place; it
-- runs where x is.

local class = require 'dpt.class'
local placed = require 'dpt.optim.placed'

local names = [[
   sgd adam adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg FistaLS
   cmaes de lswolfe polyinterp checkgrad ConfusionMatrix Logger
]]

-- How many functions stand before x; 1 where nothing is said.
local functions = {FistaLS = 3}

local optim = {}
local waiting = {}
for name in names:gmatch('%w+') do waiting[name] = true end

setmetatable(optim, {__index = function(_, name)
   if not waiting[name] then return nil end
   waiting[name] = nil
   local path = 'dpt.optim.' .. name
   local found = package.searchpath(path, package.path) and require(path)
   if type(found) == 'function' then rawset(optim, name, placed(found, functions[name] or 1)) end
   return rawget(optim, name)
end})

class.rooms.optim = optim

return optim
