-- dpt.optim.mean_loss: the setting meanLoss of methods whose decisions depend on the loss.
local descent = require 'spec.support.descent'
local elements = require 'spec.support.elements'
local updates = require 'dpt.updates'
local bad = descent.bad

local LABELS = {cg = 'config', lbfgs = 'config', cmaes = 'config', de = 'config',
   checkgrad = 'config', lswolfe = 'options', FistaLS = 'params'}

local start, target = torch.DoubleTensor{0.75, -0.5, 1, 0}, torch.DoubleTensor{0.5, -1, 0.25, 2}

local function bowl(x)
   local away = x:double() - target
   return away:dot(away), x:clone():copy(away):mul(2)
end

-- A custom line search: halves the step until f decreases.
local function halve(opfunc, x, t, d, f)
   local origin, count = x:clone(), 0
   while true do
      t, count = t / 2, count + 1
      local value, gradient = opfunc(x:copy(origin):add(t, d))
      if value < f or count > 20 then return value, gradient, x, t, count end
   end
end

-- Calls a method on x with `more` and the settings that it requires.
local function call(name, f, x, more)
   local settings = {maxIter = 3, maxEval = 8, maxFEs = 60, sigma = 0.5, maxiter = 3,
      scaleFactor = 0.5, crossoverRate = 0.5}
   for key, value in pairs(more) do settings[key] = value end
   torch.manualSeed(4)
   if name == 'checkgrad' then return optim.checkgrad(f, x, 1e-3, settings) end
   if name == 'FistaLS' then
      local function zero() return 0 end
      return optim.FistaLS(f, zero, zero, x, settings)
   end
   if name == 'lswolfe' then
      local value, gradient = bowl(x)
      return optim.lswolfe(f, x, 0.1, gradient:clone():mul(-1), value, gradient,
         -gradient:dot(gradient), settings)
   end
   return optim[name](f, x, settings)
end

describe('A method that decides by the loss', function()
   -- Calls a method with half of the loss and a meanLoss that doubles it: the results equal those
   -- with the full loss.
   local function check(name, more, typename)
      local calls, means, x, y = 0, 0, start:clone():type(typename), start:clone():type(typename)
      local network = {_trains = function(_, t) return rawequal(t, x) end}
      updates.addDistributed(network)
      local _, wanted = call(name, function(at)
         calls = calls + 1
         return bowl(at)
      end, y, more)
      more.meanLoss = function(loss)
         means = means + 1
         return 2 * loss
      end
      local _, history = call(name, function(at)
         local loss, gradient = bowl(at)
         return loss / 2, gradient
      end, x, more)
      assert.same(y:double():totable(), x:double():totable(), name)
      assert.same(torch.isTensor(wanted) and wanted:double():totable() or wanted,
         torch.isTensor(history) and history:double():totable() or history, name)
      assert.is_true(calls > 0)
      assert.equal(calls, means, name)
   end

   it("decides by meanLoss of its function's value", function()
      for name in pairs(LABELS) do check(name, {}, 'torch.DoubleTensor') end
   end)

   it('also applies it in a line search', function()
      check('lbfgs', {lineSearch = optim.lswolfe, lineSearchOptions = {c1 = 0.1}},
         'torch.CudaTensor')
      check('lbfgs', {lineSearch = halve}, 'torch.DoubleTensor')
   end)

   it('does so on reduced types', function()
      for _, name in ipairs(elements.reduced) do
         check('cg', {}, 'torch.' .. elements.onDevice(name) .. 'Tensor')
         check('lbfgs', {lineSearch = optim.lswolfe}, 'torch.' .. name .. 'Tensor')
      end
   end)

   it('calls meanLoss with the device current that the script had #devices2', function()
      local x = cutorch.withDevice(2, start.cuda, start)
      local function f() return cutorch.withDevice(2, bowl, x) end
      local seen = {}
      optim.lbfgs(f, x, {lineSearch = optim.lswolfe, meanLoss = function(loss)
         seen[cutorch.getDevice()] = true
         return loss
      end})
      assert.same({true}, seen)
   end)

   it('raises without meanLoss if several ranks train x, before it calls anything', function()
      local x = start:clone()
      local network = {_trains = function(_, t) return rawequal(t, x) end}
      updates.addDistributed(network)
      for name, label in pairs(LABELS) do
         local function f() error 'called' end
         bad(("optim.%s: argument '%s.meanLoss' is nil, wanted function(loss) return"
            .. ' net:meanLoss(loss) end: x are parameters that several ranks train, which decide by'
            .. ' one loss'):format(name, label), call, name, f, x, {})
         bad(("optim.%s: argument '%s.meanLoss' is a boolean, wanted a function"):format(name,
            label), call, name, f, x, {meanLoss = true})
      end
      local line, raised = bad("optim.cg: argument 'config.meanLoss' is nil, wanted function(loss)"
         .. ' return net:meanLoss(loss) end: x are parameters that several ranks train, which'
         .. ' decide by one loss', function() optim.cg(bowl, x) end)
      assert.equal(line + 2, raised)
      bad("optim.cg: argument 'opfunc' is a number, wanted a function", call, 'cg', 3, x,
         {meanLoss = math.abs})
      assert.is_true(network:_trains(x)) -- also keeps network alive
      for _, name in ipairs{'sgd', 'adam', 'rprop', 'asgd'} do optim[name](bowl, x, {}) end
   end)
end)
