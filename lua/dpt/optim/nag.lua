--- optim.nag: Nesterov's accelerated gradient.
-- Invariant: the gradient is computed after a step along the velocity state.dfdx; state.evalCounter
-- counts the calls.
-- @function optim.nag
-- @as descent
-- @param config? table: learningRate (1e-3), momentum (0.9), learningRateDecay (0), weightDecay
--    (0), learningRates (tensor: for each parameter, a factor that multiplies the learning
--    rate)
-- @param state? table: state kept between calls (config)
-- @usage optim.nag(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.1}) --> [1.4], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'
local fail = require 'dpt.ffi'.fail

return function(opfunc, x, config, state)
   config, state = arguments.check('nag', opfunc, x, config, state)
   local momentum, decay = config.momentum or 0.9, config.weightDecay or 0
   if momentum <= 0 then
      fail('optim.nag: momentum is %s, wanted a number above 0', momentum)
   end
   local count = state.evalCounter or 0
   local rates = stateOf.factors('nag', config, 'learningRates', x, state)
   local scaled = rates and stateOf.tensor('nag', state, 'deltaParameters', x)
   if state.dfdx then x:add(momentum, stateOf.tensor('nag', state, 'dfdx', x)) end
   local fx, dfdx = opfunc(x)
   arguments.gradient('nag', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   local rate = (config.learningRate or 1e-3) / (1 + count * (config.learningRateDecay or 0))
   local step = scaled and scaled:cmul(rates, dfdx) or dfdx
   x:add(-rate, step)
   stateOf.tensor('nag', state, 'dfdx', dfdx):mul(momentum):add(-rate, step)
   state.evalCounter = count + 1
   return x, {fx}
end
