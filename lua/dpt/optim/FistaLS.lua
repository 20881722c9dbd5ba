--- optim.FistaLS: FISTA with backtracking: minimizes f(x) + g(x), where f is smooth and g has a
-- known proximal step (Beck and Teboulle 2009).
-- Invariant: it starts from zeros. L only increases, until the quadratic model of f at y is above
-- f. As in Torch7, the result is the last y, the point after the extrapolation.

local arguments = require 'dpt.optim.arguments'

--- Minimizes f(x) + g(x) by FISTA with backtracking, where f is smooth and g has a known proximal
-- step.
-- @function optim.FistaLS
-- @as optimtool
-- @param f function: receives x [, 'dx'], returns f(x) and, on request, its gradient
-- @param g function: receives x, returns g(x)
-- @param pl function: receives x and L, applies the proximal step of g to x in place
-- @param xinit tensor: determines size and type; receives the result
-- @param params? table: L (0.1; the last value is stored there), Lstep (1.5), maxiter (50), maxline
--    (20), errthres (1e-4), doFistaUpdate (true), meanLoss (function: receives the f(x) of this
--    rank, returns that of all)
-- @return xinit; a list with {nline, L, F, Fply, Gply, Q} of each iteration
-- @raise if several ranks train xinit (nn.DistributedDataParallel) and params has no meanLoss
-- @usage local x = optim.FistaLS(function(x)
--       return (x[1] - 3) ^ 2, torch.Tensor{2 * (x[1] - 3)}
--    end, function() return 0 end, function() end, torch.Tensor(1))
--    return ('%.1f'):format(x[1]) --> 3.0
return function(f, g, pl, xinit, params)
   arguments.callable('FistaLS', 'f', f)
   arguments.callable('FistaLS', 'g', g)
   arguments.callable('FistaLS', 'pl', pl)
   arguments.tensor('FistaLS', 'xinit', xinit)
   params = arguments.settings('FistaLS', 'params', params)
   local L, grow = params.L or 0.1, params.Lstep or 1.5
   local maxiter, maxline = params.maxiter or 50, params.maxline or 20
   local threshold = params.errthres or 1e-4
   local accelerate = params.doFistaUpdate ~= false

   local x = xinit:clone():zero()
   local previous, y, difference = x:clone(), x:clone(), x:clone()
   local t, history = 1, {}
   for iteration = 1, maxiter do
      local fy, gradient = f(y, 'dx')
      gradient = arguments.gradient('FistaLS', xinit, gradient):clone()
      local lines = 0
      local model
      repeat
         x:copy(y):add(-1 / L, gradient)
         pl(x, L)
         local value = f(x)
         difference:copy(x):add(-1, y)
         model = fy + difference:dot(gradient) + L / 2 * difference:dot(difference)
         lines = lines + 1
         local done = value <= model
         if not done and lines > maxline then
            x:copy(previous)
            done = true
         elseif not done then
            L = L * grow
         end
      until done
      y:copy(x)
      if accelerate then
         local nextT = (1 + math.sqrt(1 + 4 * t * t)) / 2
         y:add((t - 1) / nextT, difference:copy(x):add(-1, previous))
         t = nextT
         previous:copy(x)
      end
      local smooth, rest = f(y), g(y)
      history[iteration] = {nline = lines, L = L, F = smooth + rest, Fply = smooth, Gply = rest,
         Q = model}
      local last = history[iteration - 1]
      if last and math.abs(history[iteration].F - last.F) <= threshold then break end
   end
   params.L = L
   return xinit:copy(y), history
end
