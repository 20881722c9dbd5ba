--- optim.adagrad: AdaGrad.
-- Invariant: state.paramVariance is the sum of all squared gradients, state.evalCounter counts the
-- calls.
-- @function optim.adagrad
-- @as descent
-- @param config? table: learningRate (1e-3), learningRateDecay (0), weightDecay (0)
-- @param state? table: state kept between calls (config)
-- @usage optim.adagrad(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.5}) --> [1.5], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

return function(opfunc, x, config, state)
   config, state = arguments.check('adagrad', opfunc, x, config, state)
   local count = state.evalCounter or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('adagrad', x, dfdx)

   local decay = config.weightDecay or 0
   if decay ~= 0 then dfdx:add(decay, x) end
   local rate = (config.learningRate or 1e-3) / (1 + count * (config.learningRateDecay or 0))
   local variance = stateOf.tensor('adagrad', state, 'paramVariance', dfdx)
   local deviation = stateOf.tensor('adagrad', state, 'paramStd', dfdx)
   variance:addcmul(1, dfdx, dfdx)
   x:addcdiv(-rate, dfdx, deviation:sqrt(variance):add(1e-10))
   state.evalCounter = count + 1
   return x, {fx}
end
