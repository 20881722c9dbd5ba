--- Methods of one step a call: against their published formulas in plain Lua numbers, on host and
-- device; state, memory, convergence, bad calls.
local copy = require 'dpt.clone'
local abs, sqrt, max, min = math.abs, math.sqrt, math.max, math.min

local curvature, target, start = {3, 4, 2, 5}, {0.5, -1, 0.25, 2}, {0.75, -0.5, 1, 0}

-- sum of curvature/2 (x - target)^2 in numbers
local function slope(i, x) return curvature[i] * (x - target[i]) end

--- The formulas, for parameter i: step(c, s, i, x, g) gives the new x; g is the slope at x, c the
-- options, s what one parameter keeps; s.n counts the steps before this one.
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

function formulas.adam(c, s, _, x, g)
   local b1, b2, t = c.beta1 or 0.9, c.beta2 or 0.999, s.n + 1
   g = g + (c.weightDecay or 0) * x
   s.m = b1 * (s.m or 0) + (1 - b1) * g
   s.v = b2 * (s.v or 0) + (1 - b2) * g * g
   local rate = (c.learningRate or 1e-3) / (1 + s.n * (c.learningRateDecay or 0))
   return x - rate * sqrt(1 - b2 ^ t) / (1 - b1 ^ t) * s.m / (sqrt(s.v) + (c.epsilon or 1e-8))
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
   adam = {{}, {learningRate = 0.1, learningRateDecay = 0.1, beta1 = 0.8, beta2 = 0.9,
      epsilon = 1e-3, weightDecay = 0.1}},
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

-- the options with their lists as tensors
local function given(typename, case)
   local config = {}
   for k, v in pairs(case) do config[k] = type(v) == 'table' and make(typename, v) or v end
   return config
end

-- the quadratic on tensors; its gradient lives in one tensor, as a network's does
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

local function bad(sentence, f, ...)
   local line = debug.getinfo(2, 'l').currentline
   local ok, why = pcall(f, ...)
   assert.is_false(ok)
   assert.equal(sentence, (why:gsub('^.-:%d+: ', '')))
   return line, tonumber(why:match ':(%d+): ')
end

describe('a step of', function()
   for name, cases in pairs(options) do
      for number, case in ipairs(cases) do
         it(('%s follows its formula, options %d'):format(name, number), function()
            for _, typename in ipairs(types) do
               local x, config, state = make(typename, start), given(typename, case), {}
               local f, memory = quadratic(typename), x:storage():data()
               local average
               for _ = 1, 12 do
                  local before = f(x)
                  local y, values, third = optim[name](f, x, config, state)
                  assert.is_true(rawequal(x, y))
                  if name ~= 'nag' then assert.equal(before, values[1]) end
                  average = third
               end
               assert.equal(memory, x:storage():data())
               local wanted, means = expected(name, case, 12)
               local allowed = typename:find 'Double' and 1e-12 or 2e-5
               assert.is_true(distance(wanted, x) <= allowed, typename)
               if average then
                  assert.is_true(distance(torch.DoubleTensor(means), average) <= allowed)
               end
            end
         end)
      end

      it(name .. ' goes on from a copied state, also where config keeps it', function()
         local case = cases[#cases]
         local f, whole = quadratic(types[1]), make(types[1], start)
         local config = given(types[1], case)
         for _ = 1, 10 do optim[name](f, whole, config) end
         local parts, state = make(types[1], start), {}
         for step = 1, 10 do
            if step == 5 then state = copy(state) end
            optim[name](f, parts, given(types[1], case), state)
         end
         assert.equal(0, distance(whole, parts))
      end)

      it(name .. ' keeps its state tensors', function()
         local f, x, state = quadratic(types[1]), make(types[1], start), {}
         local config = given(types[1], cases[#cases])
         for _ = 1, 6 do optim[name](f, x, config, state) end
         local memory = {}
         for k, v in pairs(state) do
            if torch.isTensor(v) then memory[k] = v:storage():data() end
         end
         for _ = 1, 3 do optim[name](f, x, config, state) end
         for k, v in pairs(state) do
            if torch.isTensor(v) then assert.equal(memory[k], v:storage():data(), k) end
         end
      end)

      it(name .. ' names what is wrong with a call, at its line', function()
         local method, f, x = optim[name], quadratic(types[1]), make(types[1], start)
         local place = 'optim.' .. name .. ': '
         local line, told = bad(place .. "argument 'opfunc' is nil, wanted a function",
            function() method(nil, x, {}) end)
         assert.equal(line + 1, told)
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
         assert.equal(0, distance(torch.DoubleTensor(start), x))
      end)
   end

   it('takes a callable table for opfunc', function()
      local f, x = quadratic(types[1]), make(types[1], start)
      local before = f(x)
      optim.sgd(setmetatable({}, {__call = function(_, v) return f(v) end}), x, {})
      assert.is_true(f(x) < before)
   end)

   it('refuses options that have no meaning', function()
      local f, x = quadratic(types[1]), make(types[1], start)
      bad('optim.sgd: nesterov wants a momentum above 0 and a dampening of 0, got 0 and 0',
         optim.sgd, f, x, {nesterov = true})
      bad('optim.sgd: nesterov wants a momentum above 0 and a dampening of 0, got 0.5 and 0.5',
         optim.sgd, f, x, {nesterov = true, momentum = 0.5})
      bad('optim.nag: momentum is 0, wanted a number above 0', optim.nag, f, x, {momentum = 0})
   end)

   it('takes neither config nor state, as a first step of its own', function()
      for _, name in ipairs{'sgd', 'adam', 'adamax', 'adagrad', 'adadelta', 'rmsprop', 'rprop',
         'asgd', 'nag'} do
         local f, x, y = quadratic(types[1]), make(types[1], start), make(types[1], start)
         optim[name](f, x)
         optim[name](f, y, {}, {})
         assert.equal(0, distance(x, y), name)
         assert.is_true(distance(make(types[1], start), x) > 0, name)
      end
   end)

   it("adam keeps Torch7's denom, with the epsilon of a config of its own", function()
      local state = {}
      optim.adam(quadratic(types[1]), make(types[1], start), {epsilon = 0.5}, state)
      assert.is_true(distance(torch.sqrt(state.v):add(0.5), state.denom) == 0)
   end)

   it('rprop takes niter iterations a call', function()
      local x, state = make(types[1], start), {}
      local _, values = optim.rprop(quadratic(types[1]), x, {niter = 5}, state)
      assert.equal(5, #values)
      assert.is_true(distance(expected('rprop', {}, 5), x) < 1e-12)
   end)
end)

describe('descent comes to the minimum', function()
   local rates = {
      sgd = {learningRate = 0.1, momentum = 0.5, dampening = 0}, adam = {learningRate = 0.05},
      adamax = {learningRate = 0.05}, adagrad = {learningRate = 0.5},
      adadelta = {}, rmsprop = {learningRate = 1e-3},
      rprop = {}, nag = {learningRate = 0.05, momentum = 0.5},
      asgd = {eta0 = 0.1, lambda = 0},
   }
   for name, config in pairs(rates) do
      it('of a quadratic, with ' .. name, function()
         local f, x, state = quadratic(types[1]), make(types[1], start), {}
         for _ = 1, 3000 do optim[name](f, x, config, state) end
         assert.is_true(distance(torch.DoubleTensor(target), x) < 2e-3, tostring(x))
      end)
   end

   local function rosenbrock(x)
      local a, b = x[1], x[2]
      return (1 - a) ^ 2 + 100 * (b - a * a) ^ 2,
         torch.DoubleTensor{-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)}
   end
   local steep = {
      sgd = {learningRate = 1e-3, momentum = 0.9, dampening = 0}, adam = {learningRate = 0.02},
      nag = {learningRate = 1e-3, momentum = 0.9}, rprop = {stepsize = 0.01},
   }
   for name, config in pairs(steep) do
      it("of Rosenbrock's function, with " .. name, function()
         local x, state = torch.DoubleTensor{-1.2, 1}, {}
         for _ = 1, 8000 do optim[name](rosenbrock, x, config, state) end
         assert.is_true(distance(torch.ones(2), x) < 0.01, tostring(x))
      end)
   end
end)

describe('methods of descent run where the parameters are', function()
   if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end
   before_each(function() cutorch.setDevice(1) end)

   -- f(x) = x.x/2 and its gradient; the device that was current is noted.
   local function problem(device, noted)
      local x, g
      cutorch.withDevice(device, function()
         x, g = torch.CudaTensor(4):fill(1), torch.CudaTensor(4)
      end)
      return function(y)
         noted[cutorch.getDevice()] = true
         return y:dot(y) / 2, g:copy(y)
      end, x
   end

   local config = {learningRate = 0.1, momentum = 0.9, scaleFactor = 0.5,
      crossoverRate = 0.5, maxFEs = 20, maxEval = 20}

   for _, name in ipairs{'sgd', 'adam', 'adamax', 'adagrad', 'adadelta', 'rmsprop', 'nag', 'rprop',
      'asgd', 'lbfgs', 'cg', 'cmaes', 'de'} do
      it(name .. ' gives on device 2 what it gives on device 1, which is current (B5)', function()
         local results = {}
         for device = 1, 2 do
            torch.manualSeed(5)
            local state, noted, result = {sigma = 0.3, maxEval = 20}, {}, nil
            local f, x = problem(device, noted)
            for _ = 1, 3 do result = optim[name](f, x, copy(config), state) end
            results[device] = result:double()
            assert.same({true}, noted)
            assert.equal(1, cutorch.getDevice())
            for key, value in pairs(state) do
               if torch.isTensor(value) then assert.equal(device, value:getDevice(), key) end
            end
            if name == 'adam' then assert.equal(device, state.denom:getDevice()) end
         end
         assert.equal(0, distance(results[1], results[2]))
      end)
   end

   it('FistaLS and checkgrad do', function()
      for device = 1, 2 do
         local f, x = problem(device, {})
         local function zero() return 0 end
         local fista = optim.FistaLS(f, zero, zero, x)
         assert.equal(device, fista:getDevice())
         assert.is_true(fista:norm() < 0.1)
         local f2, y = problem(device, {})
         assert.is_true(optim.checkgrad(f2, y, 1e-2) < 1e-2)
      end
   end)

   it('state from a file, and of parameters that moved, comes to them', function()
      local f, x = problem(1, {})
      local g, y = problem(2, {})
      local state, other = {}, torch.CudaTensor(3)
      for _, name in ipairs{'adam', 'lbfgs'} do
         local kept = {other = other, config = config}
         for _ = 1, 3 do optim[name](f, x, config, kept) end
         state[name] = torch.deserialize(torch.serialize(kept))
         y:copy(x)
         for _ = 1, 3 do
            optim[name](f, x, config, kept)
            optim[name](g, y, config, state[name])
         end
         assert.equal(0, distance(x, y))
         assert.equal(1, state[name].other:getDevice())
      end
      assert.equal(2, state.adam.m:getDevice())
   end)

   it('raises at the line of the script, with the device set back', function()
      local f, x = problem(2, {})
      local line, told = bad("optim.sgd: argument 'opfunc' is nil, wanted a function",
         function() optim.sgd(nil, x, {}) end)
      assert.equal(line + 1, told)
      assert.error_matches(function() optim.sgd(function() error 'mine' end, x, {}) end, 'mine')
      assert.equal(1, cutorch.getDevice())
      optim.sgd(f, x, {})
   end)
end)
