--- optim.adam: Adam (http://arxiv.org/abs/1412.6980).
-- Invariant: state.t counts the calls, state.m and state.v are the two running means. state.denom
-- is computed when it is read.
-- @function optim.adam
-- @as descent
-- @param config? table: learningRate (1e-3), learningRateDecay (0), beta1 (0.9), beta2 (0.999),
--    epsilon (1e-8), weightDecay (0), learningRates (tensor: for each parameter, a factor
--    that multiplies the learning rate), weightDecays (tensor: a weight decay for each parameter;
--    ignored if weightDecay is not 0), amsgrad (boolean: divides by the root of the largest v so
--    far, state.vmax)
-- @param state? table: state kept between calls (config)
-- @usage optim.adam(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.5}) --> [1.5], {4}

local lazy = require 'dpt.optim.lazy'
local step = require 'dpt.optim.adam_step'
local torch = require 'dpt.tensor'

-- Torch7 stored sqrt(v) + epsilon in the state; so epsilon is included.
lazy.define('denom', function(state)
   local v, epsilon = rawget(state, 'v'), rawget(state, 'epsilon')
   return v and epsilon and torch.sqrt(v):add(epsilon)
end)

return function(opfunc, x, config, state, scaler)
   local y, values, kept, epsilon = step('adam', false, opfunc, x, config, state, scaler)
   kept.epsilon = epsilon
   rawset(kept, 'denom', nil)
   lazy.attach(kept)
   return y, values
end
