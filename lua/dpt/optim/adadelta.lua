--- optim.adadelta: ADADELTA (http://arxiv.org/abs/1212.5701).
-- Invariant: state.paramVariance and state.accDelta are the running means of squared gradients and
-- of squared steps.
-- @function optim.adadelta
-- @as descent
-- @param config? table: rho (0.9), eps (1e-6), weightDecay (0)
-- @param state? table: state kept between calls (config)
-- @usage optim.adadelta(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {rho = 0.5}) --> [1.001], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

return function(opfunc, x, config, state)
   config, state = arguments.check('adadelta', opfunc, x, config, state)
   local rho, eps, decay = config.rho or 0.9, config.eps or 1e-6, config.weightDecay or 0
   state.evalCounter = state.evalCounter or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('adadelta', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   local variance = stateOf.tensor('adadelta', state, 'paramVariance', dfdx)
   local deviation = stateOf.tensor('adadelta', state, 'paramStd', dfdx)
   local delta = stateOf.tensor('adadelta', state, 'delta', dfdx)
   local squares = stateOf.tensor('adadelta', state, 'accDelta', dfdx)
   variance:mul(rho):addcmul(1 - rho, dfdx, dfdx)
   deviation:copy(variance):add(eps):sqrt()
   delta:copy(squares):add(eps):sqrt():cdiv(deviation):cmul(dfdx)
   x:add(-1, delta)
   squares:mul(rho):addcmul(1 - rho, delta, delta)
   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
