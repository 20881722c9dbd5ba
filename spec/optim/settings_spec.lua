-- dpt.optim.settings: settings that optim's methods do not read, but have under another name.
local read = require 'spec.support.read'
local run = require 'spec.support.run'

local prelude = [[
   require 'dpt'
   local x = torch.ones(2)
   local function f(y) return 1, torch.ones(2) end
   local function zero() return 0 end
]]

describe('Settings of optim', function()
   it('by a name of PyTorch or in another spelling are reported once, with the right name',
      function()
         local out = run.lua(prelude .. [[
            for _ = 1, 2 do
               local config = {lr = 1, betas = {0.9, 0.99}, weight_decay = 0, eps = 1e-3}
               for _ = 1, 2 do optim.adam(f, x, config) end
               optim.sgd(f, x, {learning_rate = 1, Momentum = 0.5, learningRateDecays = 1})
               optim.asgd(f, x, {lr = 1, lambd = 1}, {})
               optim.rprop(f, x, {lr = 0.1, etas = {0.5, 1.2}, step_sizes = {1e-6, 50}})
               optim.lbfgs(f, x, {max_iter = 2, tolerance_grad = 1, history_size = 3})
               optim.cg(f, x, {maxiter = 2})
               optim.FistaLS(f, zero, zero, x, {maxIter = 2, maxiter = nil})
               optim.ZeroRedundancyOptimizer(optim.rmsprop)(f, x, {learningrate = 1})
            end
         ]])
         local lines = {}
         for line in out:gmatch '[^\n]+' do lines[#lines + 1] = line end
         table.sort(lines)
         local wanted = {}
         for text in ([[
            adam: the setting 'betas' is not read; its names are beta1 and beta2
            adam: the setting 'eps' is not read; its name is epsilon
            adam: the setting 'lr' is not read; its name is learningRate
            adam: the setting 'weight_decay' is not read; its name is weightDecay
            asgd: the setting 'lambd' is not read; its name is lambda
            asgd: the setting 'lr' is not read; its name is eta0
            cg: the setting 'maxiter' is not read; its name is maxIter
            FistaLS: the setting 'maxIter' is not read; its name is maxiter
            lbfgs: the setting 'history_size' is not read; its name is nCorrection
            lbfgs: the setting 'max_iter' is not read; its name is maxIter
            lbfgs: the setting 'tolerance_grad' is not read; its name is tolFun
            rmsprop: the setting 'learningrate' is not read; its name is learningRate
            rprop: the setting 'etas' is not read; its names are etaminus and etaplus
            rprop: the setting 'lr' is not read; its name is stepsize
            rprop: the setting 'step_sizes' is not read; its names are stepsizemin and stepsizemax
            sgd: the setting 'Momentum' is not read; its name is momentum
            sgd: the setting 'learningRateDecays' is not read; its name is learningRateDecay
            sgd: the setting 'learning_rate' is not read; its name is learningRate
         ]]):gmatch '%s*([^\n]*%S)' do wanted[#wanted + 1] = 'dpt: optim.' .. text end
         table.sort(wanted)
         assert.same(wanted, lines)
      end)

   it('of the script, of several methods, or next to the correct names are not reported',
      function()
         assert.equal('', run.lua(prelude .. [[
            optim.adam(f, x, {lr = 1, learningRate = 1, betas = {}, beta2 = 0.9})
            optim.adadelta(f, x, {lr = 1, eps = 1e-6})
            for _, config in ipairs{
               {learningRate = 0.1, learningRateDecay = 0, weightDecay = 0, momentum = 0.5,
                  dampening = 0, nesterov = false, learningRates = torch.ones(2), beta1 = 0.9,
                  beta2 = 0.99, epsilon = 1e-8, rho = 0.9, eps = 1e-6, alpha = 0.9, initialMean = 0,
                  eta0 = 1, lambda = 1, t0 = 1, etaplus = 2, etaminus = 0.5, sig = 0.5,
                  niter = 1, maxIter = 2, maxEval = 2, tolFun = 1, tolX = 1, nCorrection = 2,
                  verbose = false, L = 1, Lstep = 2, maxiter = 2, maxline = 2, ftarget = 2},
               {rho = 0.9, eps = 1e-6, learningRates = torch.ones(2), maxIter = 2},
               {best = 1, epoch = 2, batchSize = 3, name = 'x', rate = 4, decay = 5, beta = 6,
                  lambdas = 7, [1] = 8, [x] = 9, optimizer = 'adam', schedule = {}, lr0 = 1},
            } do
               for _ = 1, 2 do -- with the state of all in the same table, too
                  for name in ('sgd adam adamw adamax adagrad adadelta rmsprop nag asgd rprop lbfgs'
                     .. ' cg'):gmatch '%a+' do
                     config.delta, config.stepsize = nil -- rprop keeps what adadelta keeps
                     optim[name](f, x, config)
                  end
                  optim.FistaLS(f, zero, zero, x, config)
               end
            end
         ]]))
      end)

   it('are known as far as the reference lists them', function()
      local check = require('dpt.optim.settings').check
      local before, said = io.stderr, nil
      finally(function() rawset(io, 'stderr', before) end)
      rawset(io, 'stderr', {write = function(_, ...) said = table.concat{...} end})
      for name in ('sgd adam adamw adamax adagrad adadelta rmsprop nag asgd rprop lbfgs cg FistaLS'
         .. ' lswolfe'):gmatch '%a+' do
         local text = read('lua/dpt/optim/' .. name .. '.lua'):gsub('\n%-%-    ', ' ')
         local list = text:match '@param [cpo]%a+%?? table: ([^\n]+)':gsub('%b()', '')
         for key in list:gmatch '%w+' do
            check(name, {['_' .. key] = 1})
            assert.equal(("dpt: optim.%s: the setting '_%s' is not read; its name is %s\n"):format(
               name, key, key), said)
         end
      end
   end)
end)
