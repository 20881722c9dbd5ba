--- optim.adadelta: ADADELTA (http://arxiv.org/abs/1212.5701).
-- Invariant: state.paramVariance and state.accDelta are the running means of squared gradients and
-- of squared steps.
-- @function optim.adadelta
-- @as descent
-- @param config? table: rho (0.9), eps (1e-6), weightDecay (0)
-- @usage optim.adadelta(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {rho = 0.5}) --> [1.001], {4}

local arguments = require 'dpt.optim.arguments'

--- @param config rho (0.9), eps (1e-6), weightDecay (0)
-- @return x, {f(x) before the step}
return function(opfunc, x, config, state)
   config, state = arguments.check('adadelta', opfunc, x, config, state)
   local rho, eps, decay = config.rho or 0.9, config.eps or 1e-6, config.weightDecay or 0
   state.evalCounter = state.evalCounter or 0
   local fx, dfdx = opfunc(x)
   arguments.gradient('adadelta', x, dfdx)

   if decay ~= 0 then dfdx:add(decay, x) end
   if not state.paramVariance then
      state.paramVariance = dfdx.new():resizeAs(dfdx):zero()
      state.paramStd = dfdx.new():resizeAs(dfdx):zero()
      state.delta = dfdx.new():resizeAs(dfdx):zero()
      state.accDelta = dfdx.new():resizeAs(dfdx):zero()
   end
   state.paramVariance:mul(rho):addcmul(1 - rho, dfdx, dfdx)
   state.paramStd:copy(state.paramVariance):add(eps):sqrt()
   state.delta:copy(state.accDelta):add(eps):sqrt():cdiv(state.paramStd):cmul(dfdx)
   x:add(-1, state.delta)
   state.accDelta:mul(rho):addcmul(1 - rho, state.delta, state.delta)
   state.evalCounter = state.evalCounter + 1
   return x, {fx}
end
