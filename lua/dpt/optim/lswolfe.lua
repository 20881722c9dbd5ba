--- optim.lswolfe: a line search for the strong Wolfe conditions, by cubic interpolation.
-- Invariant: opfunc receives every trial point in x itself, so it may read the network's
-- parameters. On return x is at the point found. The search ends after maxIter evaluations.

local arguments = require 'dpt.optim.arguments'
local polyinterp = require 'dpt.optim.polyinterp'
local type = require('dpt.ffi').type

-- Returns the minimum of the cubic through two trials, within bounds if given.
local function between(a, b, low, high)
   return polyinterp({{a.t, a.f, a.slope}, {b.t, b.f, b.slope}}, low, high)
end

-- Returns two trials {low, high} that bracket a good step, or {trial} if that is good already.
local function bracket(evaluate, start, first, c1, c2, maxIter)
   local previous, trial = start, first
   for iteration = 0, maxIter - 1 do
      if trial.f > start.f + c1 * trial.t * start.slope
         or (iteration > 1 and trial.f >= previous.f) then
         return {previous, trial}, iteration
      elseif math.abs(trial.slope) <= -c2 * start.slope then
         return {trial}, iteration
      elseif trial.slope >= 0 then
         return {previous, trial}, iteration
      end
      local t = between(previous, trial, trial.t + 0.01 * (trial.t - previous.t), trial.t * 10)
      previous, trial = trial, evaluate(t)
   end
   return {start, trial}, maxIter
end

--- Searches along a line for the strong Wolfe conditions, by cubic interpolation; for optim.lbfgs
-- and cg.
-- @function optim.lswolfe
-- @as optimtool
-- @param opfunc function: receives x, returns f(x) and its gradient
-- @param x tensor: starting point, updated in place
-- @param t number: the first step
-- @param d tensor: the direction
-- @param f number: the value at x; with several ranks, that of all
-- @param g tensor: the gradient at x
-- @param gtd number: the slope, the dot product of g and d
-- @param options? table: c1 (1e-4), c2 (0.9), tolX (1e-9), maxIter (20), meanLoss (function:
--    receives the loss of this rank, returns that of all)
-- @return f, gradient, x and step at the point found; the number of evaluations
-- @raise if several ranks train x (nn.DistributedDataParallel) and options has no meanLoss
-- @usage optim.lswolfe(function(x)
--       return x[1] ^ 2, torch.Tensor{2 * x[1]}
--    end, torch.Tensor{2}, 0.5, torch.Tensor{-4}, 4, torch.Tensor{4}, -16) --> 0, [0], [0], 0.5, 1
return function(opfunc, x, t, d, f, g, gtd, options)
   arguments.callable('lswolfe', 'opfunc', opfunc)
   arguments.tensor('lswolfe', 'x', x)
   arguments.tensor('lswolfe', 'd', d)
   arguments.tensor('lswolfe', 'g', g)
   for argument, value in pairs{t = t or false, f = f or false, gtd = gtd or false} do
      if type(value) ~= 'number' then
         arguments.reject('lswolfe', argument, value or nil, 'a number')
      end
   end
   options = arguments.settings('lswolfe', 'options', options)
   local c1, c2 = options.c1 or 1e-4, options.c2 or 0.9
   local tolX, maxIter = options.tolX or 1e-9, options.maxIter or 20
   local evaluations = 0
   local origin = x:clone()

   local function evaluate(step)
      x:copy(origin):add(step, d)
      local value, gradient = arguments.evaluate('lswolfe', opfunc, x)
      evaluations = evaluations + 1
      return {t = step, f = value, g = gradient:clone(), slope = gradient:dot(d)}
   end

   local start = {t = 0, f = f, g = g:clone(), slope = gtd}
   local points, iteration = bracket(evaluate, start, evaluate(t), c1, c2, maxIter)

   local stuck = false
   while #points == 2 and iteration < maxIter do
      local lo = points[1].f <= points[2].f and 1 or 2
      local hi = 3 - lo
      t = between(points[1], points[2])
      local least = math.min(points[1].t, points[2].t)
      local most = math.max(points[1].t, points[2].t)
      if math.min(most - t, t - least) / (most - least) < 0.1 then -- too close to an end
         if stuck or t >= most or t <= least then
            local nearMost = math.abs(t - most) < math.abs(t - least)
            t = nearMost and most - 0.1 * (most - least) or least + 0.1 * (most - least)
            stuck = false
         else
            stuck = true
         end
      else
         stuck = false
      end
      local trial = evaluate(t)
      iteration = iteration + 1
      local done = false
      if trial.f > f + c1 * t * gtd or trial.f >= points[lo].f then
         points[hi] = trial
      else
         if math.abs(trial.slope) <= -c2 * gtd then
            done = true
         elseif trial.slope * (points[hi].t - points[lo].t) >= 0 then
            points[hi] = points[lo]
         end
         points[lo] = trial
      end
      if done or math.abs((points[1].t - points[2].t) * trial.slope) < tolX then break end
   end

   local best = points[1]
   if points[2] and points[2].f < best.f then best = points[2] end
   x:copy(origin):add(best.t, d)
   return best.f, best.g, x, best.t, evaluations
end
