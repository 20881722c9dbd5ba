--- optim.adagrad: AdaGrad.
-- What must stay true: state.paramVariance is the sum of all squared gradients, state.evalCounter
-- counts the calls.

--- @param config learningRate (1e-3), learningRateDecay (0), weightDecay (0)
-- @return x, {f(x) before the step}
return function(opfunc, x, config, state)
   if config == nil and state == nil then
      error('optim.adagrad: wants a table that keeps its state', 2)
   end
   config = config or {}
   state = state or config
   local count = state.evalCounter or 0
   local fx, dfdx = opfunc(x)

   local decay = config.weightDecay or 0
   if decay ~= 0 then dfdx:add(decay, x) end
   local rate = (config.learningRate or 1e-3) / (1 + count * (config.learningRateDecay or 0))
   if not state.paramVariance then
      state.paramVariance = dfdx.new():resizeAs(dfdx):zero()
      state.paramStd = dfdx.new():resizeAs(dfdx)
   end
   state.paramVariance:addcmul(1, dfdx, dfdx)
   state.paramStd:sqrt(state.paramVariance):add(1e-10)
   x:addcdiv(-rate, dfdx, state.paramStd)
   state.evalCounter = count + 1
   return x, {fx}
end
