--- optim.adam: Adam (http://arxiv.org/abs/1412.6980).
-- Invariant: state.t counts the calls, state.m and state.v are the two running means. state.denom
-- is computed when it is read. The update is one pass.
-- @function optim.adam
-- @as descent
-- @param config? table: learningRate (1e-3), learningRateDecay (0), beta1 (0.9), beta2 (0.999),
--    epsilon (1e-8), weightDecay (0), learningRates (tensor: for each parameter, a factor
--    that multiplies the learning rate), weightDecays (tensor: a weight decay for each parameter;
--    ignored if weightDecay is not 0)
-- @param state? table: state kept between calls (config)
-- @usage optim.adam(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.5}) --> [1.5], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'
local lib = require 'dpt.ffi'.lib
local torch = require 'dpt.tensor'

-- Torch7 stored sqrt(v) + epsilon in the state; so epsilon is included.
local lazy = {__index = function(state, key)
   if key == 'denom' and rawget(state, 'v') then
      return torch.sqrt(state.v):add(rawget(state, 'epsilon'))
   end
end}

return function(opfunc, x, config, state)
   config, state = arguments.check('adam', opfunc, x, config, state)
   local rate = config.learningRate or 1e-3
   local beta1 = arguments.number('adam', 'beta1', config.beta1 or 0.9)
   local beta2 = arguments.number('adam', 'beta2', config.beta2 or 0.999)
   local decay = arguments.number('adam', 'weightDecay', config.weightDecay or 0)
   local fx, dfdx = opfunc(x)
   dfdx = arguments.gradient('adam', x, dfdx)

   state.t = state.t or 0
   -- each separately: another method may have set some of these fields
   local m = stateOf.tensor('adam', state, 'm', dfdx)
   local v = stateOf.tensor('adam', state, 'v', dfdx)
   local rates = stateOf.factors('adam', config, 'learningRates', x, state)
   local decays = decay == 0 and stateOf.factors('adam', config, 'weightDecays', x, state) or nil
   state.epsilon = arguments.number('adam', 'epsilon', config.epsilon or 1e-8)
   rawset(state, 'denom', nil)
   if getmetatable(state) == nil then setmetatable(state, lazy) end
   rate = rate / (1 + state.t * (config.learningRateDecay or 0))
   state.t = state.t + 1
   rate = rate * math.sqrt(1 - beta2 ^ state.t) / (1 - beta1 ^ state.t)
   lib.adam_mixed(x, dfdx, m, v, rates, decays, rate, decay, beta1, beta2, state.epsilon)
   return x, {fx}
end
