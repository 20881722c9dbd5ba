--- optim.asgd: averaged stochastic gradient descent.
-- Invariant: state.ax is the average of the points since call t0; the next call uses state.eta_t,
-- state.mu_t and state.t.
-- @function optim.asgd
-- @as descent
-- @param config? table: eta0 (1e-4), lambda (1e-4), alpha (0.75), t0 (1e6)
-- @param state? table: state kept between calls (config)
-- @return third result: the average
-- @usage optim.asgd(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {eta0 = 0.1}) --> [1.4], {4}, [1.4]

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

return function(opfunc, x, config, state)
   config, state = arguments.check('asgd', opfunc, x, config, state)
   config.eta0 = config.eta0 or 1e-4
   config.lambda = config.lambda or 1e-4
   config.alpha = config.alpha or 0.75
   config.t0 = config.t0 or 1e6
   state.eta_t = state.eta_t or config.eta0
   state.mu_t = state.mu_t or 1
   state.t = state.t or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('asgd', x, dfdx)

   local average = stateOf.tensor('asgd', state, 'ax', x)
   local difference = state.mu_t ~= 1 and stateOf.tensor('asgd', state, 'tmp', x)
   x:mul(1 - config.lambda * state.eta_t)
   x:add(-state.eta_t, dfdx)
   if difference then
      average:add(state.mu_t, difference:add(x, -1, average))
   else
      average:copy(x)
   end
   state.t = state.t + 1
   state.eta_t = config.eta0 / (1 + config.lambda * config.eta0 * state.t) ^ config.alpha
   state.mu_t = 1 / math.max(1, state.t - config.t0)
   return x, {fx}, average
end
