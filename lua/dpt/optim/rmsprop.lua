--- optim.rmsprop: RMSprop.
-- Invariant: state.m is the running mean of squared gradients.
-- @function optim.rmsprop
-- @as descent
-- @param config? table: learningRate (1e-2), alpha (0.99), epsilon (1e-8), weightDecay (0),
--    initialMean (0)
-- @param state? table: state kept between calls (config)
-- @usage optim.rmsprop(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.05}) --> [1.5], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

return function(opfunc, x, config, state)
   config, state = arguments.check('rmsprop', opfunc, x, config, state)
   local alpha, decay = config.alpha or 0.99, config.weightDecay or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('rmsprop', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   local m = stateOf.tensor('rmsprop', state, 'm', dfdx, config.initialMean)
   local root = stateOf.tensor('rmsprop', state, 'tmp', dfdx)
   m:mul(alpha):addcmul(1 - alpha, dfdx, dfdx)
   root:sqrt(m):add(config.epsilon or 1e-8)
   x:addcdiv(-(config.learningRate or 1e-2), dfdx, root)
   return x, {fx}
end
