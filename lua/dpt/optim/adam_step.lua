--- dpt.optim.adam_step: a step of adam, whose weight decay changes the gradient, or of adamw, whose
-- weight decay changes x.
-- Invariant: state.t counts the steps, state.m and state.v are the two running means; with amsgrad
-- state.vmax is the largest v. The update is one pass. With a loss scaler, kernels decide whether
-- the step is skipped, count it, and compute the numbers that depend on the count.
local arguments = require 'dpt.optim.arguments'
local countsOf = require 'dpt.optim.counts'
local stateOf = require 'dpt.optim.state'
local Masters = require 'dpt.masters'
local dptffi = require 'dpt.ffi'
local lib, type = dptffi.lib, dptffi.type

--- Does one step.
-- @param name string: the method
-- @param decoupled boolean: true for adamw
-- @param scaler? optim.LossScaler: its state is on the device of x
-- @return x, values of f, the state, epsilon
return function(name, decoupled, opfunc, x, config, state, scaler)
   config, state = arguments.check(name, opfunc, x, config, state)
   local number = arguments.number
   local rate = number(name, 'learningRate', config.learningRate or 1e-3)
   local rateDecay = number(name, 'learningRateDecay', config.learningRateDecay or 0)
   local beta1 = number(name, 'beta1', config.beta1 or 0.9)
   local beta2 = number(name, 'beta2', config.beta2 or 0.999)
   local decay = number(name, 'weightDecay', config.weightDecay or (decoupled and 0.01 or 0))
   local epsilon = number(name, 'epsilon', config.epsilon or 1e-8)
   local amsgrad = config.amsgrad
   if amsgrad ~= nil and type(amsgrad) ~= 'boolean' then
      arguments.reject(name, 'amsgrad', amsgrad, 'a boolean')
   end
   local fx, dfdx = opfunc(x)
   dfdx = arguments.gradient(name, x, dfdx)

   -- each separately: another method may have set some of these fields
   local m = stateOf.tensor(name, state, 'm', dfdx)
   local v = stateOf.tensor(name, state, 'v', dfdx)
   local vmax = amsgrad and stateOf.tensor(name, state, 'vmax', dfdx) or nil
   local rates = stateOf.factors(name, config, 'learningRates', x, state)
   local decays = (decoupled or decay == 0)
      and stateOf.factors(name, config, 'weightDecays', x, state) or nil
   local corrected, small, numbers, counts = rate, epsilon, nil, nil
   if scaler then
      numbers, counts = scaler:_beginStep(dfdx), countsOf.onDevice(name, state, 't', x)
   else
      local t = countsOf.number(state, 't') + 1
      local root = math.sqrt(1 - beta2 ^ t)
      state.t, rate = t, rate / (1 + (t - 1) * rateDecay)
      corrected = rate * root / (1 - beta1 ^ t)
      -- PyTorch adds epsilon to the corrected root of v, Torch7 to the root of v
      small = decoupled and epsilon * root or epsilon
   end
   local masters, copy = Masters.copyOf(x)
   lib.adam_mixed(x, dfdx, m, v, vmax, rates, decays, corrected, decay, beta1, beta2, small,
      decoupled, rate, copy, numbers, counts, rateDecay)
   if masters then masters:updated(copy) end
   return x, {fx}, state, epsilon
end
