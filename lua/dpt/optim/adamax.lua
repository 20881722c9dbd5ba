--- optim.adamax: Adam with the infinity norm (http://arxiv.org/abs/1412.6980).
-- Invariant: state.t counts the calls, state.m is the running mean, state.u the running maximum.
-- @function optim.adamax
-- @as descent
-- @param config? table: learningRate (0.002), beta1 (0.9), beta2 (0.999), epsilon (1e-38),
--    weightDecay (0)
-- @param state? table: state kept between calls (config)
-- @usage optim.adamax(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.5}) --> [1.5], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

return function(opfunc, x, config, state)
   config, state = arguments.check('adamax', opfunc, x, config, state)
   local beta1, beta2 = config.beta1 or 0.9, config.beta2 or 0.999
   local fx, dfdx = opfunc(x)
   arguments.gradient('adamax', x, dfdx)

   local decay = config.weightDecay or 0
   if decay ~= 0 then dfdx:add(decay, x) end
   -- each separately: another method may have set some of these fields
   state.t = state.t or 0
   local m = stateOf.tensor('adamax', state, 'm', dfdx)
   local u = stateOf.tensor('adamax', state, 'u', dfdx):resize(1, dfdx:nElement()) -- as in Torch7
   local size = stateOf.tensor('adamax', state, 'size', dfdx)
   state.t = state.t + 1
   m:mul(beta1):add(1 - beta1, dfdx)
   u:mul(beta2):cmax(size:abs(dfdx):add(config.epsilon or 1e-38))
   x:addcdiv(-(config.learningRate or 0.002) / (1 - beta1 ^ state.t), m, u)
   return x, {fx}
end
