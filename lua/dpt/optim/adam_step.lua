--- dpt.optim.adam_step: a step of adam, whose weight decay changes the gradient, or of adamw, whose
-- weight decay changes x.
-- Invariant: state.t counts the calls, state.m and state.v are the two running means; with amsgrad
-- state.vmax is the largest v. The update is one pass.
local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'
local Masters = require 'dpt.masters'
local dptffi = require 'dpt.ffi'
local lib, type = dptffi.lib, dptffi.type

--- Does one step.
-- @param name string: the method
-- @param decoupled boolean: true for adamw
-- @return x, values of f, the state, epsilon
return function(name, decoupled, opfunc, x, config, state)
   config, state = arguments.check(name, opfunc, x, config, state)
   local number = arguments.number
   local rate = config.learningRate or 1e-3
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

   state.t = state.t or 0
   -- each separately: another method may have set some of these fields
   local m = stateOf.tensor(name, state, 'm', dfdx)
   local v = stateOf.tensor(name, state, 'v', dfdx)
   local vmax = amsgrad and stateOf.tensor(name, state, 'vmax', dfdx) or nil
   local rates = stateOf.factors(name, config, 'learningRates', x, state)
   local decays = (decoupled or decay == 0)
      and stateOf.factors(name, config, 'weightDecays', x, state) or nil
   rate = rate / (1 + state.t * (config.learningRateDecay or 0))
   state.t = state.t + 1
   local root = math.sqrt(1 - beta2 ^ state.t)
   local masters, copy = Masters.copyOf(x)
   -- PyTorch adds epsilon to the corrected root of v, Torch7 to the root of v
   lib.adam_mixed(x, dfdx, m, v, vmax, rates, decays, rate * root / (1 - beta1 ^ state.t), decay,
      beta1, beta2, decoupled and epsilon * root or epsilon, decoupled, rate, copy)
   if masters then masters:updated(copy) end
   return x, {fx}, state, epsilon
end
