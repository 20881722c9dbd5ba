--- optim.rprop: resilient propagation: only the signs of the gradient count.
-- Invariant: every parameter has its own step size, larger while its gradient keeps its sign and
-- smaller if it turns; a turn takes no step.
-- @function optim.rprop
-- @as descent
-- @param config? table: stepsize (0.1), etaplus (1.2), etaminus (0.5), stepsizemax (50),
--    stepsizemin (1e-6), niter (1)
-- @usage optim.rprop(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {stepsize = 0.2}) --> [1.2], {4}

local arguments = require 'dpt.optim.arguments'
local torch = require 'dpt.tensor'

--- @param config stepsize (0.1), etaplus (1.2), etaminus (0.5), stepsizemax (50), stepsizemin
-- (1e-6), niter (1)
-- @return x, {f(x) of every iteration}
return function(opfunc, x, config, state)
   config, state = arguments.check('rprop', opfunc, x, config, state)
   local history = {}
   for i = 1, config.niter or 1 do
      local fx, dfdx = opfunc(x)
      arguments.gradient('rprop', x, dfdx)
      history[i] = fx
      if not state.delta then
         state.delta = dfdx.new():resizeAs(dfdx):zero()
         state.stepsize = dfdx.new():resizeAs(dfdx):fill(config.stepsize or 0.1)
      end
      if not state.sign then -- what a step computes with
         state.sign = dfdx.new():resizeAs(dfdx)
         state.factor = dfdx.new():resizeAs(dfdx)
         state.kept, state.turned = torch.gt(state.sign, 0), torch.lt(state.sign, 0)
      end
      local sign, kept, turned = state.sign, state.kept, state.turned
      sign:cmul(dfdx, state.delta):sign()
      kept:gt(sign, 0)
      turned:lt(sign, 0)
      state.factor:fill(1):maskedFill(kept, config.etaplus or 1.2)
      state.factor:maskedFill(turned, config.etaminus or 0.5)
      state.stepsize:cmul(state.factor)
      state.stepsize:cmin(config.stepsizemax or 50):cmax(config.stepsizemin or 1e-6)
      dfdx:maskedFill(turned, 0)
      sign:sign(dfdx)
      x:addcmul(-1, sign, state.stepsize)
      state.delta:copy(dfdx)
   end
   return x, history
end
