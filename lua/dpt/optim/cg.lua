--- optim.cg: conjugate gradients (Polak-Ribiere) with Rasmussen's line search by interpolation.
-- Invariant: a line search ends at a Wolfe-Powell point or restores x. It reads values, so it waits
-- for the device.
-- @function optim.cg
-- @as descent
-- @param config? table: maxIter (20), maxEval (1.25 maxIter), sig (0.5), rho (0.01), int (0.1), ext
--    (3), ratio (100), red (1), meanLoss (function: receives the loss of this rank, returns that of
--    all)
-- @return third result: the number of evaluations
-- @raise if several ranks train x (nn.DistributedDataParallel) and config has no meanLoss
-- @usage (optim.cg(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {maxIter = 5})) --> [3]

local arguments = require 'dpt.optim.arguments'

local FURTHER = 100 -- extrapolations beyond a limit that is not an integer

local function finite(v)
   return v == v and v ~= math.huge and v ~= -math.huge
end

-- Returns the step from the point with (f2, d2) to the minimum of the polynomial; the point with
-- (f3, d3) is z3 away from it.
local function interpolate(f1, f2, f3, d2, d3, z3, int)
   local z2
   if f2 > f1 then -- quadratic
      z2 = z3 - 0.5 * d3 * z3 * z3 / (d3 * z3 + f2 - f3)
   else -- cubic
      local a = 6 * (f2 - f3) / z3 + 3 * (d2 + d3)
      local b = 3 * (f3 - f2) - z3 * (d3 + 2 * d2)
      z2 = (math.sqrt(b * b - a * d2 * z3 * z3) - b) / a
   end
   if not finite(z2) then z2 = z3 / 2 end
   return math.max(math.min(z2, int * z3), (1 - int) * z3)
end

local function extrapolate(f2, f3, d2, d3, z1, z3, limit, int, ext)
   local a = 6 * (f2 - f3) / z3 + 3 * (d2 + d3)
   local b = 3 * (f3 - f2) - z3 * (d3 + 2 * d2)
   local z2 = -d2 * z3 * z3 / (b + math.sqrt(b * b - a * d2 * z3 * z3))
   local limited = limit > -0.5
   if not finite(z2) or z2 < 0 then
      return limited and (limit - z1) / 2 or z1 * (ext - 1)
   elseif limited and z2 + z1 > limit then
      return (limit - z1) / 2
   elseif not limited and z2 + z1 > z1 * ext then
      return z1 * (ext - 1)
   elseif z2 < -z3 * int then
      return -z3 * int
   elseif limited and z2 < (limit - z1) * (1 - int) then
      return (limit - z1) * (1 - int)
   end
   return z2
end

return function(opfunc, x, config)
   config = arguments.check('cg', opfunc, x, config)
   local rho, sig = config.rho or 0.01, config.sig or 0.5
   local int, ext = config.int or 0.1, config.ext or 3
   local maxIter, ratio = config.maxIter or 20, config.ratio or 100
   local maxEval = config.maxEval or maxIter * 1.25
   local evaluations = 0

   local function evaluate()
      evaluations = evaluations + 1
      local f, g = arguments.evaluate('cg', opfunc, x)
      return f, g:clone()
   end

   local f1, g1 = evaluate()
   local history = {f1}
   local s = g1:clone():mul(-1)
   local d1 = -s:dot(s)
   local z1 = (config.red or 1) / (1 - d1)
   local x0 = x:clone()

   while evaluations < math.abs(maxEval) do
      x0:copy(x)
      x:add(z1, s)
      local f2, g2 = evaluate()
      local d2 = g2:dot(s)
      local f3, d3, z3 = f1, d1, -z1
      local left = math.min(maxIter, maxEval - evaluations)
      local success, limit = false, -1
      local function step(z2)
         z1 = z1 + z2
         x:add(z2, s)
         f2, g2 = evaluate()
         left = left - 1
         d2 = g2:dot(s)
      end
      while true do
         while (f2 > f1 + z1 * rho * d1 or d2 > -sig * d1) and left > 0 do
            limit = z1
            local z2 = interpolate(f1, f2, f3, d2, d3, z3, int)
            step(z2)
            z3 = z3 - z2
         end
         if f2 > f1 + z1 * rho * d1 or d2 > -sig * d1 then break end
         success = d2 > sig * d1
         -- Torch7 compares with 0, so a limit that is not an integer does not end an extrapolation
         if success or left == 0 or left < -FURTHER then break end
         local z2 = extrapolate(f2, f3, d2, d3, z1, z3, limit, int, ext)
         f3, d3, z3 = f2, d2, -z2
         step(z2)
      end
      if not success then
         x:copy(x0)
         break
      end
      f1 = f2
      history[#history + 1] = f1
      s:mul((g2:dot(g2) - g2:dot(g1)) / g1:dot(g1)):add(-1, g2)
      g1 = g2
      d2 = g1:dot(s)
      if d2 > 0 then -- not a descent direction: restart with the negative gradient
         s:copy(g1):mul(-1)
         d2 = -s:dot(s)
      end
      z1 = z1 * math.min(ratio, d1 / (d2 - 1e-320))
      d1 = d2
   end
   return x, history, evaluations
end
