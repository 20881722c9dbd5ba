--- optim.adamw: Adam with decoupled weight decay (https://arxiv.org/abs/1711.05101).
-- Invariant: the state is that of optim.adam, without denom.
-- @function optim.adamw
-- @as descent
-- @follows PyTorch's torch.optim.AdamW
-- @param config? table: learningRate (1e-3), learningRateDecay (0), beta1 (0.9), beta2 (0.999),
--    epsilon (1e-8), weightDecay (0.01: each step multiplies x by 1 - learningRate * weightDecay),
--    learningRates (tensor: for each parameter, a factor that multiplies the learning rate),
--    weightDecays (tensor: a weight decay for each parameter, instead of weightDecay), amsgrad
--    (boolean: divides by the root of the largest v so far, state.vmax)
-- @param state? table: state kept between calls (config)
-- @usage optim.adamw(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {learningRate = 0.5, weightDecay = 0.5}) --> [1.25], {4}

local step = require 'dpt.optim.adam_step'

return function(opfunc, x, config, state, scaler)
   local y, values = step('adamw', true, opfunc, x, config, state, scaler)
   return y, values
end
