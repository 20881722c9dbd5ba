--- optim.rmsprop: RMSprop.
-- Invariant: state.m is the running mean of squared gradients.
-- @function optim.rmsprop
-- @as descent
-- @param config? table: learningRate (1e-2), alpha (0.99), epsilon (1e-8), weightDecay (0),
--    initialMean (0)
-- @usage optim.rmsprop(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.05}) --> [1.5], {4}

local arguments = require 'dpt.optim.arguments'

--- @param config learningRate (1e-2), alpha (0.99), epsilon (1e-8), weightDecay (0), initialMean
-- (0)
-- @return x, {f(x) before the step}
return function(opfunc, x, config, state)
   config, state = arguments.check('rmsprop', opfunc, x, config, state)
   local alpha, decay = config.alpha or 0.99, config.weightDecay or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('rmsprop', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   if not state.m then
      state.m = dfdx.new():resizeAs(dfdx):fill(config.initialMean or 0)
      state.tmp = dfdx.new():resizeAs(dfdx)
   end
   state.m:mul(alpha):addcmul(1 - alpha, dfdx, dfdx)
   state.tmp:sqrt(state.m):add(config.epsilon or 1e-8)
   x:addcdiv(-(config.learningRate or 1e-2), dfdx, state.tmp)
   return x, {fx}
end
