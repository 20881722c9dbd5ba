--- optim.rprop: resilient propagation: only the signs of the gradient count.
-- What must stay true: every parameter has its own step size, larger while its gradient keeps its
-- sign and smaller where it turns; a turn takes no step.

local torch = require 'dpt.tensor'

--- @param config stepsize (0.1), etaplus (1.2), etaminus (0.5), stepsizemax (50), stepsizemin
-- (1e-6), niter (1)
-- @return x, {f(x) of every iteration}
return function(opfunc, x, config, state)
   if config == nil and state == nil then
      error('optim.rprop: wants a table that keeps its state', 2)
   end
   config = config or {}
   state = state or config
   local history = {}
   for i = 1, config.niter or 1 do
      local fx, dfdx = opfunc(x)
      history[i] = fx
      if not state.delta then
         state.delta = dfdx.new():resizeAs(dfdx):zero()
         state.stepsize = dfdx.new():resizeAs(dfdx):fill(config.stepsize or 0.1)
         state.sign = dfdx.new():resizeAs(dfdx)
      end
      local sign = state.sign:cmul(dfdx, state.delta):sign()
      local turned = torch.lt(sign, 0)
      -- 1 becomes etaplus, -1 etaminus, 0 stays 1
      local factor = sign.new():resizeAs(sign):fill(1)
      factor:maskedFill(torch.gt(sign, 0), config.etaplus or 1.2)
      factor:maskedFill(turned, config.etaminus or 0.5)
      state.stepsize:cmul(factor)
      state.stepsize:cmin(config.stepsizemax or 50):cmax(config.stepsizemin or 1e-6)
      dfdx:maskedFill(turned, 0)
      sign:sign(dfdx)
      x:addcmul(-1, sign, state.stepsize)
      state.delta:copy(dfdx)
   end
   return x, history
end
