--- optim.checkgrad: compares a gradient with differences of the function.
-- Invariant: x is as before when it returns.

local arguments = require 'dpt.optim.arguments'

--- @param opfunc function(x) that returns f(x) and its gradient
-- @param x the point
-- @param eps half the distance of the two points of a difference (1e-7)
-- @return |gradient - estimate| / |gradient + estimate|, the gradient, the estimate
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
