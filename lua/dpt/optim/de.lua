--- optim.de: differential evolution (Storn and Price 1997) with the best member as base.
-- Invariant: it draws from a separate generator, seeded with 1, in Torch7's order, so that equal
-- calls return equal results. All members of a generation are replaced at the same time.

local arguments = require 'dpt.optim.arguments'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Minimizes without a gradient: differential evolution (Storn and Price).
-- @function optim.de
-- @as optimtool
-- @param opfunc function: receives x, returns f(x)
-- @param x tensor: determines size and type; not modified
-- @param config table: popsize (10 for each element of x), scaleFactor, crossoverRate, maxFEs =
--    largest number of evaluations; minRegion and maxRegion of the first population (-30, 30);
--    meanLoss (function: receives the loss of this rank, returns that of all)
-- @param state? table: not used
-- @return the best point found, as a vector; a vector of all values of f in order of evaluation
-- @raise if several ranks train x (nn.DistributedDataParallel) and config has no meanLoss
-- @usage local x = optim.de(function(x)
--       return (x[1] - 2) ^ 2
--    end, torch.Tensor(1), {scaleFactor = 0.5, crossoverRate = 0.9, maxFEs = 400})
--    return ('%.1f'):format(x[1]) --> 2.0
return function(opfunc, x, config, state)
   config = arguments.check('de', opfunc, x, config, state)
   for _, name in ipairs{'scaleFactor', 'crossoverRate', 'maxFEs'} do
      if type(config[name]) ~= 'number' then
         fail('optim.de: %s is %s, wanted a number', name, tostring(config[name]))
      end
   end
   local d = x:nElement()
   local n = config.popsize or 10 * d
   if n < 3 then fail('optim.de: popsize is %s, wanted at least 3', n) end
   local generations = math.max(math.ceil((config.maxFEs - 1) / n), 1)
   local g = torch.Generator()
   torch.manualSeed(g, 1)

   local values, count = x.new(generations * n), 0
   local function evaluate(y)
      count = count + 1
      values[count] = opfunc(y:viewAs(x))
      return values[count] -- rounded to x's type
   end

   local members, children = x.new(n, d), x.new(n, d)
   members:uniform(g, config.minRegion or -30, config.maxRegion or 30)
   local fitness, best, worst = {}, 1, 1
   for i = 1, n do
      fitness[i] = evaluate(members[i])
      if fitness[i] < fitness[best] then best = i end
      if fitness[i] > fitness[worst] then worst = i end
   end
   local solution, least = members[best]:clone(), fitness[best]
   local base, reached = members[worst]:clone(), fitness[worst] -- Torch7 starts with the worst

   -- returns a number from 1 to n other than a and b
   local function another(a, b)
      local r
      repeat r = torch.random(g, 1, n) until r ~= a and r ~= b
      return r
   end

   for _ = 2, generations do
      local theirs = {}
      for i = 1, n do
         local first = another(i)
         local second = another(i, first)
         local certain = torch.random(g, 1, d)
         local child = children[i]:copy(members[i])
         for j = 1, d do
            if torch.uniform(g, 0, 1) < config.crossoverRate or i == certain then
               child[j] = base[j]
                  + config.scaleFactor * (members[first][j] - members[second][j])
            end
         end
         theirs[i] = evaluate(child)
      end
      for i = 1, n do
         if theirs[i] <= fitness[i] then
            members[i]:copy(children[i])
            fitness[i] = theirs[i]
            if theirs[i] < reached then
               reached = theirs[i]
               base:copy(children[i])
            end
         end
      end
   end
   return reached < least and base or solution, values
end
