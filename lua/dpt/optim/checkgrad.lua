--- optim.checkgrad: compares a gradient with finite differences of the function.
-- Invariant: x is unchanged on return.

local arguments = require 'dpt.optim.arguments'

--- Compares a gradient with finite differences of the function.
-- @function optim.checkgrad
-- @as optimtool
-- @param opfunc function: receives x, returns f(x) and its gradient
-- @param x tensor: the point
-- @param eps? number: half the distance between the two points of a difference (1e-7)
-- @param config? table: meanLoss (function: receives the loss of this rank, returns that of all)
-- @return |gradient - estimate| / |gradient + estimate|; the gradient; the estimate
-- @raise if several ranks train x (nn.DistributedDataParallel) and config has no meanLoss
-- @usage select(2, optim.checkgrad(function(x)
--       return x[1] ^ 2, torch.Tensor{2 * x[1]}
--    end, torch.Tensor{3})) --> [6], [6]
return function(opfunc, x, eps)
   arguments.check('checkgrad', opfunc, x)
   eps = eps or 1e-7
   local _, gradient = arguments.evaluate('checkgrad', opfunc, x)
   gradient = gradient:clone()
   local estimate = gradient:clone():zero()
   for i = 1, gradient:size(1) do
      local value = x[i]
      x[i] = value + eps
      local above = opfunc(x)
      x[i] = value - eps
      local below = opfunc(x)
      x[i] = value
      estimate[i] = (above - below) / (2 * eps)
   end
   local difference = (gradient - estimate):norm() / (gradient + estimate):norm()
   return difference, gradient, estimate
end
