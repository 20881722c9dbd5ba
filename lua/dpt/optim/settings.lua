--- dpt.optim.settings: reports settings that a method ignores but supports under another name.
-- Invariant: a table is checked when a method receives it for the first time, and never modified. A
-- table that several methods share may have the settings of all; other fields belong to the script.
local report = require 'dpt.report'
local type = require('dpt.ffi').type

local names = {
   sgd = [[learningRate learningRateDecay weightDecay momentum dampening nesterov learningRates
      weightDecays]],
   adam = [[learningRate learningRateDecay beta1 beta2 epsilon weightDecay learningRates
      weightDecays amsgrad]],
   adamw = [[learningRate learningRateDecay beta1 beta2 epsilon weightDecay learningRates
      weightDecays amsgrad]],
   adamax = 'learningRate beta1 beta2 epsilon weightDecay',
   adagrad = 'learningRate learningRateDecay weightDecay',
   adadelta = 'rho eps weightDecay',
   rmsprop = 'learningRate alpha epsilon weightDecay initialMean',
   nag = 'learningRate momentum learningRateDecay weightDecay learningRates',
   asgd = 'eta0 lambda alpha t0',
   rprop = 'stepsize etaplus etaminus stepsizemax stepsizemin niter',
   lbfgs = [[maxIter maxEval tolFun tolX nCorrection lineSearch lineSearchOptions learningRate
      verbose meanLoss]],
   cg = 'maxIter maxEval sig rho int ext ratio red meanLoss',
   FistaLS = 'L Lstep maxiter maxline errthres doFistaUpdate meanLoss',
   lswolfe = 'c1 c2 tolX maxIter meanLoss',
   cmaes = 'sigma maxEval ftarget popsize min_iterations verb_disp meanLoss',
   de = 'popsize scaleFactor crossoverRate maxFEs minRegion maxRegion meanLoss',
}

-- Maps other names of settings (PyTorch's names, and variants of the names here) to the names here.
-- Keys are normalized by plain().
local aliases = {
   lr = 'learningRate eta0 stepsize', lrdecay = 'learningRateDecay',
   learningratedecays = 'learningRateDecay', betas = 'beta1 beta2',
   eps = 'epsilon', lambd = 'lambda', etas = 'etaminus etaplus',
   stepsizes = 'stepsizemin stepsizemax', tolerancegrad = 'tolFun', tolerancechange = 'tolX',
   historysize = 'nCorrection', linesearchfn = 'lineSearch',
}

for _, name in ipairs{'sgd', 'adam', 'adamw', 'adamax', 'adagrad', 'adadelta', 'rmsprop',
   'asgd'} do names[name] = names[name] .. ' scaler' end

local STATE = 'nIter' -- lbfgs keeps it; rprop has a setting niter

-- Normalizes a name: lower case, without '_' and '-', so that spellings can be compared.
local function plain(key) return (key:lower():gsub('[_-]', '')) end

-- by method: its settings, as a set and as a list; the settings that each plain form may stand for
local owns, lists, meant = {}, {}, {}
for name, text in pairs(names) do
   local own, list, forms = {}, {}, {}
   for key in text:gmatch '%S+' do
      own[key], list[#list + 1], forms[plain(key)] = true, key, {key}
   end
   for alias, keys in pairs(aliases) do
      local found = {}
      for key in keys:gmatch '%S+' do
         if own[key] then found[#found + 1] = key end
      end
      if found[1] then forms[alias] = found end
   end
   owns[name], lists[name], meant[name] = own, list, forms
end

local function hasOneOf(config, keys)
   for _, key in ipairs(keys) do
      if rawget(config, key) ~= nil then return true end
   end
   return false
end

-- Returns true if key is a setting of another method and the table has more settings of that
-- method.
local function isOthers(config, key, own)
   for _, other in pairs(owns) do
      for field in pairs(other[key] and other or {}) do
         if field ~= key and not own[field] and rawget(config, field) ~= nil then return true end
      end
   end
   return false
end

local M = {}

--- Returns the names of a method's settings.
function M.of(name) return lists[name] end

local checked = setmetatable({}, {__mode = 'k'}) -- table -> the last method that received it

--- Reports misspelled settings of a method's table.
function M.check(name, config)
   if checked[config] == name then return end
   checked[config] = name
   local own, forms = owns[name], meant[name]
   for key in next, config do
      if type(key) == 'string' and not own[key] and key ~= STATE then
         local keys = forms[plain(key)]
         if keys and not hasOneOf(config, keys) and not isOthers(config, key, own) then
            report(("optim.%s: the setting '%s' is not read; its name%s %s"):format(name, key,
               keys[2] and 's are' or ' is', table.concat(keys, ' and ')))
         end
      end
   end
end

return M
