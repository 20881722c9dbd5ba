--- optim.cmaes: evolution strategy with covariance matrix adaptation (Hansen, "The CMA Evolution
-- Strategy: A Tutorial", with its default constants).
-- Invariant: it computes in doubles on the host; x is only read; random numbers are drawn from the
-- default generator.

local arguments = require 'dpt.optim.arguments'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

-- Returns the constants for n numbers and a population of lambda.
local function constants(n, lambda)
   local mu = math.floor(lambda / 2)
   local weights = torch.DoubleTensor(mu)
   for i = 1, mu do weights[i] = math.log(lambda / 2 + 0.5) - math.log(i) end
   weights:div(weights:sum())
   local mass = 1 / weights:dot(weights)
   local c = {mu = mu, weights = weights, mass = mass}
   c.path = (4 + mass / n) / (n + 4 + 2 * mass / n)
   c.step = (mass + 2) / (n + mass + 5)
   c.one = 2 / ((n + 1.3) ^ 2 + mass)
   c.rank = math.min(1 - c.one, 2 * (mass - 2 + 1 / mass) / ((n + 2) ^ 2 + mass))
   c.damp = 1 + 2 * math.max(0, math.sqrt((mass - 1) / (n + 1)) - 1) + c.step
   return c
end

--- Minimizes without a gradient: evolution strategy with covariance matrix adaptation (Hansen).
-- @function optim.cmaes
-- @as optimtool
-- @param opfunc function: receives x, returns f(x)
-- @param x tensor: start of the search, only read
-- @param config table: sigma = initial step size of every number; maxEval (1000 n^2, with n the
--    number of x's elements), ftarget, popsize (4 + floor(3 ln n)), min_iterations (1), verb_disp
--    (0); meanLoss (function: receives the loss of this rank, returns that of all)
-- @param state? table: may have the same fields except meanLoss
-- @return the best point found, like x; a list of f(x), the best value of every generation and of
--    all; the number of evaluations
-- @raise if several ranks train x (nn.DistributedDataParallel) and config has no meanLoss
-- @usage local x = optim.cmaes(function(x)
--       return (x[1] - 1) ^ 2 + (x[2] + 1) ^ 2
--    end, torch.Tensor{4, 4}, {sigma = 1, maxEval = 600, ftarget = 1e-4})
--    return x:round() --> [1 -1]
return function(opfunc, x, config, state)
   state = select(2, arguments.check('cmaes', opfunc, x, config, state))
   if type(state.sigma) ~= 'number' then
      fail('optim.cmaes: sigma is %s, wanted a number', tostring(state.sigma))
   end
   local n, sigma = x:nElement(), state.sigma
   local lambda = state.popsize or 4 + math.floor(3 * math.log(n))
   local c = constants(n, lambda)
   local maxEval = tonumber(state.maxEval) or 1000 * n * n
   local mean = x:double():contiguous():view(-1):clone()
   local covariance, axes, lengths = torch.eye(n):double(), torch.eye(n):double(),
      torch.DoubleTensor(n):fill(1)
   local path, stepPath = torch.DoubleTensor(n):zero(), torch.DoubleTensor(n):zero()
   local history, best, least, evaluations, generation = {(opfunc(x))}, mean:clone(), nil, 0, 0

   local function like(vector) return vector:typeAs(x):viewAs(x) end

   local function update(steps, order) -- steps: (candidate - mean) / sigma, best first
      steps = steps:index(1, order:narrow(1, 1, c.mu))
      local y = torch.mv(steps:t(), c.weights)
      mean:add(sigma, y)
      local white = axes * torch.cdiv(axes:t() * y, lengths)
      stepPath:mul(1 - c.step):add(math.sqrt(c.step * (2 - c.step) * c.mass), white)
      local norm = stepPath:dot(stepPath)
      local steady = norm / (1 - (1 - c.step) ^ (2 * generation)) / n < 2 + 4 / (n + 1)
      path:mul(1 - c.path)
      if steady then path:add(math.sqrt(c.path * (2 - c.path) * c.mass), y) end
      local lost = steady and 0 or c.one * c.path * (2 - c.path)
      covariance:mul(1 - c.one - c.rank + lost):addr(c.one, path, path)
      local scaled = torch.cmul(steps, c.weights:view(-1, 1):expandAs(steps))
      covariance:addmm(c.rank, scaled:t(), steps)
      sigma = sigma * math.exp(math.min(0.6, c.step / c.damp * (norm / n - 1) / 2))
      local values
      values, axes = torch.symeig(covariance, 'V')
      lengths = values:cmax(1e-300):sqrt()
   end

   local reason
   repeat
      generation = generation + 1
      local steps = torch.DoubleTensor(lambda, n):normal()
      steps = torch.cmul(steps, lengths:view(1, -1):expandAs(steps)) * axes:t()
      local values = torch.DoubleTensor(lambda)
      for i = 1, lambda do values[i] = opfunc(like(steps[i]:clone():mul(sigma):add(mean))) end
      evaluations = evaluations + lambda
      local sorted, order = values:sort()
      history[#history + 1] = sorted[1]
      if not least or sorted[1] < least then
         least = sorted[1]
         best:copy(steps[order[1]]):mul(sigma):add(mean)
      end
      update(steps, order)
      if (state.verb_disp or 0) > 0 and generation % state.verb_disp == 0 then
         print(('cmaes: %d evaluations, step %.1e, f %g'):format(evaluations,
            sigma * lengths:max(), sorted[1]))
      end
      reason = evaluations >= maxEval or (state.ftarget and least <= state.ftarget)
         or lengths:max() > 1e7 * lengths:min() or sorted[lambda] - sorted[1] < 1e-12
         or sigma * lengths:max() < 1e-11
   until reason and generation >= (state.min_iterations or 1)
   history[#history + 1] = least
   return like(best), history, evaluations
end
