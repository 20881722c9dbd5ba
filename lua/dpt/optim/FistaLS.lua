--- optim.FistaLS: FISTA with backtracking: minimizes f(x) + g(x), f smooth, g with a known proximal
-- step (Beck and Teboulle 2009).
-- What must stay true: L only grows, until the quadratic model at y lies above the function.

--- @param f function(x [, 'dx']) that gives f(x) and, asked for, its gradient
-- @param g function(x) that gives g(x)
-- @param pl function(x, L) that takes the proximal step of g in x itself
-- @param xinit start, changed in place
-- @param params L (0.1), Lstep (1.5), maxiter (50), maxline (20), errthres (1e-4), doFistaUpdate
-- (true)
-- @return x, a list of {nline, L, F, Fply, Q, t} of every iteration
return function(f, g, pl, xinit, params)
   params = params or {}
   local L, grow = params.L or 0.1, params.Lstep or 1.5
   local maxiter, maxline = params.maxiter or 50, params.maxline or 20
   local threshold = params.errthres or 1e-4
   local accelerate = params.doFistaUpdate == nil and true or params.doFistaUpdate

   local x = xinit
   local previous, y = x:clone(), x:clone()
   local difference = x:clone()
   local t, history = 1, {}
   for iteration = 1, maxiter do
      local fy, gradient = f(y, 'dx')
      gradient = gradient:clone()
      local lines = 0
      local value, model
      while true do
         x:copy(y):add(-1 / L, gradient)
         pl(x, L)
         local gx = g(x)
         value = f(x) + gx
         difference:copy(x):add(-1, y)
         model = fy + difference:dot(gradient) + L / 2 * difference:dot(difference) + gx
         if value <= model then break end
         if lines >= maxline then
            x:copy(previous)
            break
         end
         L = L * grow
         lines = lines + 1
      end
      history[iteration] = {nline = lines, L = L, F = value, Fply = value, Q = model, t = t}
      local last = history[iteration - 1]
      if last and math.abs(value - last.F) < threshold then break end
      y:copy(x)
      if accelerate then
         local nextT = (1 + math.sqrt(1 + 4 * t * t)) / 2
         y:add((t - 1) / nextT, difference:copy(x):add(-1, previous))
         t = nextT
      end
      previous:copy(x)
   end
   return x, history
end
