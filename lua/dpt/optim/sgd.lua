--- optim.sgd: stochastic gradient descent.
-- Invariant: state.evalCounter counts the steps and state.dfdx is the velocity, as in Torch7. The
-- whole update is one pass over the parameters, and over their 16-bit copy in nn.MixedPrecision.
-- With `scaler`, an optim.LossScaler whose state is on the device of x, kernels decide whether the
-- step is skipped, count it, and compute the numbers that depend on the count.
-- @function optim.sgd
-- @as descent
-- @param config? table: learningRate (1e-3), learningRateDecay (0), weightDecay (0), momentum (0),
--    dampening (momentum), nesterov (false), learningRates (tensor: for each parameter, a factor
--    that multiplies the learning rate), weightDecays (tensor: a weight decay for each parameter;
--    ignored if weightDecay is not 0)
-- @param state? table: state kept between calls (config)
-- @usage optim.sgd(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.25}) --> [2], {4}

local arguments = require 'dpt.optim.arguments'
local countsOf = require 'dpt.optim.counts'
local stateOf = require 'dpt.optim.state'
local Masters = require 'dpt.masters'
local dptffi = require 'dpt.ffi'

local lib, fail = dptffi.lib, dptffi.fail

return function(opfunc, x, config, state, scaler)
   config, state = arguments.check('sgd', opfunc, x, config, state)
   local rate = arguments.number('sgd', 'learningRate', config.learningRate or 1e-3)
   local rateDecay = arguments.number('sgd', 'learningRateDecay', config.learningRateDecay or 0)
   local momentum = arguments.number('sgd', 'momentum', config.momentum or 0)
   local dampening = arguments.number('sgd', 'dampening', config.dampening or momentum)
   local decay = arguments.number('sgd', 'weightDecay', config.weightDecay or 0)
   local nesterov = config.nesterov or false
   if nesterov and (momentum <= 0 or dampening ~= 0) then
      fail('optim.sgd: nesterov wants a momentum above 0 and a dampening of 0, got %s and %s',
         momentum, dampening)
   end
   local fx, dfdx = opfunc(x)
   dfdx = arguments.gradient('sgd', x, dfdx)

   local count = not scaler and countsOf.number(state, 'evalCounter')
   local velocity, first = nil, false
   if momentum ~= 0 then
      first = not state.dfdx
      velocity = stateOf.tensor('sgd', state, 'dfdx', dfdx)
   end
   local rates = stateOf.factors('sgd', config, 'learningRates', x, state)
   local decays = decay == 0 and stateOf.factors('sgd', config, 'weightDecays', x, state) or nil
   local numbers, counts
   if scaler then
      numbers = scaler:_beginStep(dfdx)
      counts = countsOf.onDevice('sgd', state, 'evalCounter', x, first)
   else
      rate = rate / (1 + count * rateDecay)
   end
   local masters, copy = Masters.copyOf(x)
   lib.sgd_mixed(x, dfdx, velocity, rates, decays, rate, decay, momentum, 1 - dampening,
      nesterov and 1 or 0, first and 1 or 0, copy, numbers, counts, rateDecay)
   if masters then masters:updated(copy) end
   if not scaler then state.evalCounter = count + 1 end
   return x, {fx}
end
