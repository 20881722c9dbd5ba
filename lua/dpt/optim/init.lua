--- dpt.optim: the table `optim`: optimization methods, one function per file, and training tools.
--
-- Invariant: every name is a field from the start, but its file is loaded at its first use. Every
-- method has the form method(opfunc, x, config, state), where opfunc(x) returns f(x) and its
-- gradient. x is updated in place, and the method runs on the device of x.
local class = require 'dpt.class'
local withMeanLoss = require 'dpt.optim.mean_loss'
local withFloats = require 'dpt.optim.half_precision'
local withScaler = require('dpt.optim.scaled').wrap
local onDevice = require 'dpt.optim.on_device'
local Masters = require 'dpt.masters'
local scope = require 'dpt.device.scope'

local descents = 'sgd adam adamw adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg'
--- Other functions, as name:number of functions before x (1 if omitted).
local others = 'FistaLS:3 cmaes de lswolfe polyinterp checkgrad ema:0'
--- Tables with meanLoss of functions that decide by the loss: position after x, and name.
local deciding = {lbfgs = {1, 'config'}, cg = {1, 'config'}, FistaLS = {1, 'params'},
   cmaes = {1, 'config'}, de = {1, 'config'}, lswolfe = {6, 'options'}, checkgrad = {2, 'config'}}
local classes = 'ConfusionMatrix Logger LossScaler ZeroRedundancyOptimizer'
local schedules = 'constant cosine step milestones exponential plateau'

local optim = {}
class.packages.optim = optim

local function add(name, load)
   local f
   optim[name] = function(...)
      f = f or load(require('dpt.optim.' .. name))
      return scope.call('update', f, ...)
   end
end
-- Makes the 16-bit copy of x equal to x (nn.MixedPrecision); returns the other arguments.
local function follow(x, ...)
   Masters.follow(x)
   return ...
end
local function following(method, count)
   return function(...) return follow(select(count + 1, ...), method(...)) end
end
local function wrap(name, method, count)
   method = following(onDevice(method, count), count)
   return deciding[name] and withMeanLoss(name, method, count, unpack(deciding[name])) or method
end
for name in descents:gmatch '%w+' do
   add(name, function(method) return wrap(name, withFloats(name, withScaler(name, method)), 1) end)
end
for name, count in others:gmatch '(%w+):?(%d*)' do
   add(name, function(f) return wrap(name, f, tonumber(count) or 1) end)
end
for name in classes:gmatch '%w+' do
   optim[name] = class.declare('optim.' .. name, nil, 'dpt.optim.' .. name)
end

-- Files may contain these objects, which optim.ema and the functions of optim.schedule create.
for name, file in pairs{EMA = 'ema', Schedule = 'schedule', Plateau = 'schedule'} do
   class.declare('optim.' .. name, nil, 'dpt.optim.' .. file)
end
optim.schedule = {}
for name in schedules:gmatch '%w+' do
   optim.schedule[name] = function(options)
      return require('dpt.optim.schedule')[name](options)
   end
end

return optim
