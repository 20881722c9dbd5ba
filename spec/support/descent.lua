--- Checks methods of one step a call, on host and device: published formulas in plain Lua numbers,
-- state, memory, convergence, invalid calls.
--
-- Invariant: describe(name) checks the same for every method; the rest is in the method's spec.
local busted, luassert = require 'busted', require 'luassert'
local copy = require 'dpt.clone'
local abs, sqrt, max, min = math.abs, math.sqrt, math.max, math.min

local M = {}

local curvature, target, start = {3, 4, 2, 5}, {0.5, -1, 0.25, 2}, {0.75, -0.5, 1, 0}

-- slope of the sum of curvature/2 (x - target)^2, in numbers
local function slope(i, x) return curvature[i] * (x - target[i]) end

--- Formulas for parameter i. step(c, s, i, x, g) returns the new x; g is the slope at x, c the
-- options, s the state of one parameter; s.n counts the steps before this one.
local formulas = {}

function formulas.sgd(c, s, i, x, g)
   local momentum = c.momentum or 0
   local dampening = c.dampening or momentum
   g = g + (c.weightDecay or c.weightDecays and c.weightDecays[i] or 0) * x
   if momentum ~= 0 then
      s.v = s.n == 0 and g or momentum * s.v + (1 - dampening) * g
      g = c.nesterov and g + momentum * s.v or s.v
   end
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   return x - rate * (c.learningRates and c.learningRates[i] or 1) * g
end

function formulas.adam(c, s, i, x, g)
   local b1, b2, t = c.beta1 or 0.9, c.beta2 or 0.999, s.n + 1
   g = g + (c.weightDecay or c.weightDecays and c.weightDecays[i] or 0) * x
   s.m = b1 * (s.m or 0) + (1 - b1) * g
   s.v = b2 * (s.v or 0) + (1 - b2) * g * g
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   rate = rate * (c.learningRates and c.learningRates[i] or 1)
   return x - rate * sqrt(1 - b2 ^ t) / (1 - b1 ^ t) * s.m / (sqrt(s.v) + (c.epsilon or 1e-8))
end

function formulas.adamw(c, s, i, x, g)
   local b1, b2, t = c.beta1 or 0.9, c.beta2 or 0.999, s.n + 1
   s.m = b1 * (s.m or 0) + (1 - b1) * g
   s.v = b2 * (s.v or 0) + (1 - b2) * g * g
   s.vmax = c.amsgrad and max(s.vmax or 0, s.v) or s.v
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   rate = rate * (c.learningRates and c.learningRates[i] or 1)
   x = x * (1 - rate * (c.weightDecays and c.weightDecays[i] or c.weightDecay or 0.01))
   return x - rate / (1 - b1 ^ t) * s.m / (sqrt(s.vmax / (1 - b2 ^ t)) + (c.epsilon or 1e-8))
end

function formulas.adamax(c, s, _, x, g)
   local b1, b2 = c.beta1 or 0.9, c.beta2 or 0.999
   g = g + (c.weightDecay or 0) * x
   s.m = b1 * (s.m or 0) + (1 - b1) * g
   s.u = max(b2 * (s.u or 0), abs(g) + (c.epsilon or 1e-38))
   return x - (c.learningRate or 0.002) / (1 - b1 ^ (s.n + 1)) * s.m / s.u
end

function formulas.adagrad(c, s, _, x, g)
   g = g + (c.weightDecay or 0) * x
   s.sum = (s.sum or 0) + g * g
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   return x - rate * g / (sqrt(s.sum) + 1e-10)
end

function formulas.adadelta(c, s, _, x, g)
   local rho, eps = c.rho or 0.9, c.eps or 1e-6
   g = g + (c.weightDecay or 0) * x
   s.g2 = rho * (s.g2 or 0) + (1 - rho) * g * g
   local step = sqrt((s.d2 or 0) + eps) / sqrt(s.g2 + eps) * g
   s.d2 = rho * (s.d2 or 0) + (1 - rho) * step * step
   return x - step
end

function formulas.rmsprop(c, s, _, x, g)
   local alpha = c.alpha or 0.99
   g = g + (c.weightDecay or 0) * x
   s.m = alpha * (s.m or c.initialMean or 0) + (1 - alpha) * g * g
   return x - (c.learningRate or 1e-2) * g / (sqrt(s.m) + (c.epsilon or 1e-8))
end

function formulas.rprop(c, s, _, x, g)
   s.size = s.size or c.stepsize or 0.1
   local sign = g * (s.last or 0)
   local factor = sign > 0 and (c.etaplus or 1.2) or sign < 0 and (c.etaminus or 0.5) or 1
   s.size = max(min(s.size * factor, c.stepsizemax or 50), c.stepsizemin or 1e-6)
   if sign < 0 then g = 0 end
   s.last = g
   return x - (g > 0 and s.size or g < 0 and -s.size or 0)
end

function formulas.nag(c, s, i, x)
   local momentum = c.momentum or 0.9
   x = x + momentum * (s.v or 0)
   local g = slope(i, x) + (c.weightDecay or 0) * x
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   local step = rate * (c.learningRates and c.learningRates[i] or 1) * g
   s.v = momentum * (s.v or 0) - step
   return x - step
end

function formulas.asgd(c, s, _, x, g)
   local eta0, lambda = c.eta0 or 1e-4, c.lambda or 1e-4
   local eta = eta0 / (1 + lambda * eta0 * s.n) ^ (c.alpha or 0.75)
   local mu = 1 / max(1, s.n - (c.t0 or 1e6))
   x = x * (1 - lambda * eta) - eta * g
   s.average = (s.average or 0) + mu * (x - (s.average or 0))
   return x
end

local each = {1, 0.5, 2, 0}
local options = {
   sgd = {{}, {learningRate = 0.1, weightDecay = 0.05}, {learningRate = 0.2, momentum = 0.9},
      {learningRate = 0.05, momentum = 0.9, dampening = 0},
      {learningRate = 0.05, momentum = 0.9, dampening = 0.3},
      {learningRate = 0.05, momentum = 0.8, dampening = 0, nesterov = true, weightDecay = 0.1},
      {learningRate = 0.2, learningRateDecay = 0.1, learningRates = each},
      {learningRate = 0.1, weightDecays = each},
      {learningRate = 0.1, learningRateDecay = 0.1, learningRates = each, weightDecays = each,
         momentum = 0.5, dampening = 0, nesterov = true}},
   adam = {{}, {learningRate = 0.1, learningRates = each},
      {learningRate = 0.1, weightDecays = each},
      {learningRate = 0.1, weightDecay = 0.1, weightDecays = each},
      {learningRate = 0.1, learningRateDecay = 0.1, learningRates = each, weightDecays = each},
      {learningRate = 0.1, learningRateDecay = 0.1, beta1 = 0.8, beta2 = 0.9, epsilon = 1e-3,
         weightDecay = 0.1}},
   adamw = {{}, {learningRate = 0.1, learningRates = each},
      {learningRate = 0.1, weightDecay = 0.3, amsgrad = true},
      {learningRate = 0.1, weightDecays = each},
      {learningRate = 0.1, beta1 = 0.8, beta2 = 0.7, epsilon = 1e-2, weightDecay = 0.1,
         learningRateDecay = 0.1},
      {learningRate = 0.1, learningRateDecay = 0.1, beta2 = 0.9, learningRates = each,
         weightDecays = each, amsgrad = true}},
   adamax = {{}, {learningRate = 0.1, beta1 = 0.8, beta2 = 0.7, epsilon = 0.1,
      weightDecay = 0.2}},
   adagrad = {{}, {learningRate = 0.3, learningRateDecay = 0.1, weightDecay = 0.1}},
   adadelta = {{}, {rho = 0.8, eps = 1e-2, weightDecay = 0.1}},
   rmsprop = {{}, {learningRate = 0.1, alpha = 0.8, epsilon = 0.1, weightDecay = 0.1,
      initialMean = 0.5}},
   rprop = {{}, {stepsize = 0.3, etaplus = 1.5, etaminus = 0.4, stepsizemax = 0.5,
      stepsizemin = 0.05}},
   nag = {{}, {learningRate = 0.1, learningRateDecay = 0.1, momentum = 0.7, weightDecay = 0.1},
      {learningRate = 0.1, learningRates = each}},
   asgd = {{}, {eta0 = 0.1, lambda = 0.1, alpha = 0.5, t0 = 3}},
}

local types = {'torch.DoubleTensor', 'torch.FloatTensor'}
if cutorch then
   types[3], types[4] = 'torch.CudaTensor', 'torch.CudaDoubleTensor'
end

local function make(typename, list) return torch.DoubleTensor(list):type(typename) end

-- Returns the options with lists converted to tensors.
local function given(typename, case)
   local config = {}
   for k, v in pairs(case) do config[k] = type(v) == 'table' and make(typename, v) or v end
   return config
end

-- Returns the quadratic as a function of a tensor; its gradient is in one tensor, as a network's
-- is.
local function quadratic(typename)
   local a, b, g = make(typename, curvature), make(typename, target), make(typename, start)
   return function(x)
      g:add(x, -1, b)
      local f = g:dot(torch.cmul(g, a)) / 2
      return f, g:cmul(a)
   end
end

local function expected(name, case, n)
   local result, average = {}, {}
   for i, x in ipairs(start) do
      local s = {}
      for step = 0, n - 1 do
         s.n = step
         x = formulas[name](case, s, i, x, slope(i, x))
      end
      result[i], average[i] = x, s.average
   end
   return torch.DoubleTensor(result), average
end

local function distance(a, b) return (a:double() - b:double()):abs():max() end

-- Calls f(...), which must raise that message.
-- @return the line of the caller, the line that the message names
local function bad(text, f, ...)
   local line = debug.getinfo(2, 'l').currentline
   local ok, why = pcall(f, ...)
   luassert.is_false(ok)
   luassert.equal(text, (why:gsub('^.-:%d+: ', '')))
   return line, tonumber(why:match ':(%d+): ')
end

local rates = {
   sgd = {learningRate = 0.1, momentum = 0.5, dampening = 0}, adam = {learningRate = 0.05},
   adamw = {learningRate = 0.05, weightDecay = 0},
   adamax = {learningRate = 0.05}, adagrad = {learningRate = 0.5},
   adadelta = {}, rmsprop = {learningRate = 1e-3},
   rprop = {}, nag = {learningRate = 0.05, momentum = 0.5},
   asgd = {eta0 = 0.1, lambda = 0},
}

local steep = {
   sgd = {learningRate = 1e-3, momentum = 0.9, dampening = 0}, adam = {learningRate = 0.02},
   adamw = {learningRate = 0.02, weightDecay = 0},
   nag = {learningRate = 1e-3, momentum = 0.9}, rprop = {stepsize = 0.01},
}

local function rosenbrock(x)
   local a, b = x[1], x[2]
   return (1 - a) ^ 2 + 100 * (b - a * a) ^ 2,
      torch.DoubleTensor{-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)}
end

M.bad, M.distance, M.expected = bad, distance, expected

--- Returns the quadratic in double precision: opfunc and a start.
function M.problem() return quadratic(types[1]), make(types[1], start) end

--- Describes a method of one step a call.
function M.describe(name)
   local cases = options[name]
   busted.describe('optim.' .. name, function()
      for number, case in ipairs(cases) do
         busted.it(('follows its formula with options %d'):format(number), function()
            for _, typename in ipairs(types) do
               local x, config, state = make(typename, start), given(typename, case), {}
               local f, memory = quadratic(typename), x:storage():data()
               local average
               for _ = 1, 12 do
                  local before = f(x)
                  local y, values, third = optim[name](f, x, config, state)
                  luassert.is_true(rawequal(x, y))
                  if name ~= 'nag' then luassert.equal(before, values[1]) end
                  average = third
               end
               luassert.equal(memory, x:storage():data())
               local wanted, means = expected(name, case, 12)
               local allowed = typename:find 'Double' and 1e-12 or 2e-5
               luassert.is_true(distance(wanted, x) <= allowed, typename)
               if average then
                  luassert.is_true(distance(torch.DoubleTensor(means), average) <= allowed)
               end
            end
         end)
      end

      busted.it('continues from a copied state, also if config keeps it', function()
         local case = cases[#cases]
         local f, whole = quadratic(types[1]), make(types[1], start)
         local config = given(types[1], case)
         for _ = 1, 10 do optim[name](f, whole, config) end
         local parts, state = make(types[1], start), {}
         for step = 1, 10 do
            if step == 5 then state = copy(state) end
            optim[name](f, parts, given(types[1], case), state)
         end
         luassert.equal(0, distance(whole, parts))
      end)

      busted.it('keeps the tensors of its state', function()
         local f, x, state = quadratic(types[1]), make(types[1], start), {}
         local config = given(types[1], cases[#cases])
         for _ = 1, 6 do optim[name](f, x, config, state) end
         local memory = {}
         for k, v in pairs(state) do
            if torch.isTensor(v) then memory[k] = v:storage():data() end
         end
         for _ = 1, 3 do optim[name](f, x, config, state) end
         for k, v in pairs(state) do
            if torch.isTensor(v) then luassert.equal(memory[k], v:storage():data(), k) end
         end
      end)

      busted.it('raises for a wrong call at its line, naming function and argument', function()
         local method, f, x = optim[name], quadratic(types[1]), make(types[1], start)
         local place = 'optim.' .. name .. ': '
         local line, raised = bad(place .. "argument 'opfunc' is nil, wanted a function",
            function() method(nil, x, {}) end)
         luassert.equal(line + 1, raised)
         bad(place .. "argument 'opfunc' is a string, wanted a function", method, 'f', x, {})
         bad(place .. "argument 'x' is a table, wanted a tensor", method, f, {1}, {})
         bad(place .. "argument 'config' is a number, wanted a table", method, f, x, 0.1)
         bad(place .. "argument 'state' is a boolean, wanted a table", method, f, x, {}, true)
         local of = ', wanted a torch.DoubleTensor of 4 elements as x'
         for _, case in ipairs{{'nil'}, {'a number', 3},
            {'a torch.DoubleTensor of 3 elements', torch.DoubleTensor(3)},
            {'a torch.FloatTensor of 4 elements', torch.FloatTensor(4)}} do
            bad(place .. "opfunc's gradient is " .. case[1] .. of, method,
               function() return 1, case[2] end, x, {})
         end
         luassert.equal(0, distance(torch.DoubleTensor(start), x))
      end)

      busted.it('works without config and state, as a first step', function()
         local f, x, y = quadratic(types[1]), make(types[1], start), make(types[1], start)
         optim[name](f, x)
         optim[name](f, y, {}, {})
         luassert.equal(0, distance(x, y))
         luassert.is_true(distance(make(types[1], start), x) > 0, name)
      end)

      busted.it('finds the minimum of a quadratic', function()
         local f, x, state = quadratic(types[1]), make(types[1], start), {}
         for _ = 1, 3000 do optim[name](f, x, rates[name], state) end
         luassert.is_true(distance(torch.DoubleTensor(target), x) < 2e-3, tostring(x))
      end)

      if not steep[name] then return end
      busted.it("finds the minimum of Rosenbrock's function", function()
         local x, state = torch.DoubleTensor{-1.2, 1}, {}
         for _ = 1, 8000 do optim[name](rosenbrock, x, steep[name], state) end
         luassert.is_true(distance(torch.ones(2), x) < 0.01, tostring(x))
      end)
   end)
end

return M
