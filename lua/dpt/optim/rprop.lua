--- optim.rprop: resilient propagation, which uses only the signs of the gradient.
-- Invariant: every parameter has a step size, which increases while its gradient keeps its sign and
-- decreases when the sign changes. A parameter whose sign has changed makes no step.
-- @function optim.rprop
-- @as descent
-- @param config? table: stepsize (0.1), etaplus (1.2), etaminus (0.5), stepsizemax (50),
--    stepsizemin (1e-6), niter (1)
-- @param state? table: state kept between calls (config)
-- @usage optim.rprop(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {stepsize = 0.2}) --> [1.2], {4}

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'
local torch = require 'dpt.tensor'

return function(opfunc, x, config, state)
   config, state = arguments.check('rprop', opfunc, x, config, state)
   local history = {}
   for i = 1, config.niter or 1 do
      local fx, dfdx = opfunc(x)
      arguments.gradient('rprop', x, dfdx)
      history[i] = fx
      local stepsize = config.stepsize or 0.1
      if not state.delta then state.stepsize = nil end -- config.stepsize if config is state
      local steps = stateOf.tensor('rprop', state, 'stepsize', dfdx, stepsize)
      local last = stateOf.tensor('rprop', state, 'delta', dfdx)
      local factor = stateOf.tensor('rprop', state, 'factor', dfdx)
      local before, sign = state.sign, stateOf.tensor('rprop', state, 'sign', dfdx)
      if not rawequal(before, sign) then state.kept, state.turned = nil, nil end -- of the old type
      state.kept = state.kept or torch.gt(sign, 0)
      state.turned = state.turned or torch.lt(sign, 0)
      local kept, turned = state.kept, state.turned
      sign:cmul(dfdx, last):sign()
      kept:gt(sign, 0)
      turned:lt(sign, 0)
      factor:fill(1):maskedFill(kept, config.etaplus or 1.2)
      factor:maskedFill(turned, config.etaminus or 0.5)
      steps:cmul(factor):cmin(config.stepsizemax or 50):cmax(config.stepsizemin or 1e-6)
      dfdx:maskedFill(turned, 0)
      sign:sign(dfdx)
      x:addcmul(-1, sign, steps)
      last:copy(dfdx)
   end
   return x, history
end
