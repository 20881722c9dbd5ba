--- optim.nag: Nesterov's accelerated gradient.
-- Invariant: the gradient is taken after a step along the velocity state.dfdx; state.evalCounter
-- counts the calls.
-- @function optim.nag
-- @as descent
-- @param config? table: learningRate (1e-3), momentum (0.9), learningRateDecay (0), weightDecay
--    (0), learningRates
-- @usage optim.nag(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.1}) --> [1.4], {4}

local arguments = require 'dpt.optim.arguments'
local fail = require 'dpt.ffi'.fail

--- @param config learningRate (1e-3), learningRateDecay (0), weightDecay (0), momentum (0.9),
-- learningRates (one for each parameter)
-- @return x, {f(x) at the point of the gradient}
return function(opfunc, x, config, state)
   config, state = arguments.check('nag', opfunc, x, config, state)
   local momentum, decay = config.momentum or 0.9, config.weightDecay or 0
   if momentum <= 0 then
      fail('optim.nag: momentum is %s, wanted a number above 0', momentum)
   end
   local count = state.evalCounter or 0
   if state.dfdx then x:add(momentum, state.dfdx) end
   local fx, dfdx = opfunc(x)
   arguments.gradient('nag', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   local rate = (config.learningRate or 1e-3) / (1 + count * (config.learningRateDecay or 0))
   local step = dfdx
   if config.learningRates then
      state.deltaParameters = state.deltaParameters or dfdx.new()
      state.deltaParameters:resizeAs(dfdx):cmul(config.learningRates, dfdx)
      step = state.deltaParameters
   end
   x:add(-rate, step)
   if not state.dfdx then state.dfdx = dfdx.new():resizeAs(dfdx):zero() end
   state.dfdx:mul(momentum):add(-rate, step)
   state.evalCounter = count + 1
   return x, {fx}
end
