--- Methods that run to the end in one call, and what they are made of.
local types = {'torch.DoubleTensor', 'torch.FloatTensor'}
if cutorch then
   types[3], types[4] = 'torch.CudaTensor', 'torch.CudaDoubleTensor'
end

local function make(typename, list) return torch.DoubleTensor(list):type(typename) end

local function distance(a, list) return (a:double() - torch.DoubleTensor(list)):abs():max() end

local calls = 0
local function rosenbrock(x)
   calls = calls + 1
   local a, b = x[1], x[2]
   local f = (1 - a) ^ 2 + 100 * (b - a * a) ^ 2
   return f, make(x:type(), {-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)})
end

-- sum of curvature/2 (x - target)^2
local function bowl(x)
   local curvature, target = make(x:type(), {1, 3, 10}), make(x:type(), {1, -2, 0.5})
   local away = x - target
   local g = torch.cmul(away, curvature)
   return away:dot(g) / 2, g
end

local function bad(sentence, f, ...)
   local ok, why = pcall(f, ...)
   assert.is_false(ok)
   assert.equal(sentence, (why:gsub('^.-:%d+: ', '')))
end

local methods = {
   cg = {optim.cg, {maxIter = 50, maxEval = 200}},
   lbfgs = {optim.lbfgs, {maxIter = 200, lineSearch = optim.lswolfe, tolFun = 1e-12}},
}

describe('the search', function()
   for name, entry in pairs(methods) do
      local method, config = entry[1], entry[2]
      it(name .. ' ends at the minimum of a quadratic, of every type', function()
         for _, typename in ipairs(types) do
            local x = make(typename, {0, 0, 0})
            local memory = x:storage():data()
            local y, history, evaluations = method(bowl, x, config, {})
            assert.is_true(rawequal(x, y))
            assert.equal(memory, x:storage():data())
            assert.is_true(distance(x, {1, -2, 0.5}) < 1e-3, typename .. tostring(x))
            assert.equal(7.75, history[1])
            assert.is_true(evaluations >= #history)
         end
      end)

      it(name .. " ends at the minimum of Rosenbrock's function", function()
         local x = torch.DoubleTensor{-1.2, 1}
         calls = 0
         local _, history, evaluations = method(rosenbrock, x, config, {})
         assert.equal(calls, evaluations)
         assert.is_true(distance(x, {1, 1}) < 1e-3, tostring(x))
         assert.is_true(history[#history] < 1e-8)
         for i = 2, #history do assert.is_true(history[i] <= history[i - 1]) end
      end)

      it(name .. ' names what is wrong with a call', function()
         local x, place = torch.DoubleTensor{0, 0}, 'optim.' .. name .. ': '
         bad(place .. "argument 'opfunc' is nil, wanted a function", method, nil, x)
         bad(place .. "argument 'x' is nil, wanted a tensor", method, rosenbrock)
         bad(place .. "argument 'config' is a string, wanted a table", method, rosenbrock, x, 's')
         bad(place .. "opfunc's value is nil, wanted a number", method, function() end, x)
         bad(place .. "opfunc's gradient is nil, wanted a torch.DoubleTensor of 2 elements as x",
            method, function() return 1 end, x)
      end)
   end

   it('lbfgs goes on where the first call stopped', function()
      local function points(...)
         local x, state = torch.DoubleTensor{0, 0, 0}, {}
         for _, n in ipairs{...} do
            optim.lbfgs(bowl, x, {maxIter = n, learningRate = 0.5}, state)
         end
         return x, state
      end
      local whole, one = points(8)
      local parts, two = points(3, 5)
      assert.is_true(distance(parts, whole:totable()) < 1e-12)
      assert.equal(one.nIter, two.nIter)
   end)

   it('lbfgs moves along -g first, by min(1, 1/|g|) times the rate', function()
      local x = torch.DoubleTensor{0, 0, 0}
      optim.lbfgs(bowl, x, {maxIter = 1, learningRate = 0.5})
      assert.is_true(distance(x, {0.5 / 12, -6 * 0.5 / 12, 5 * 0.5 / 12}) < 1e-15)
   end)

   it('lbfgs keeps nCorrection corrections and few evaluations', function()
      local state = {}
      local _, _, n = optim.lbfgs(rosenbrock, torch.DoubleTensor{-1.2, 1},
         {maxIter = 30, maxEval = 12, nCorrection = 2, learningRate = 0.1, tolX = 0}, state)
      assert.equal(12, n)
      assert.equal(2, #state.old_dirs)
      bad("optim.lbfgs: argument 'lineSearch' is a string, wanted a function", optim.lbfgs,
         rosenbrock, torch.DoubleTensor{0, 0}, {lineSearch = 'wolfe'})
   end)

   it('lswolfe finds a point of the strong Wolfe conditions, and tries points in x', function()
      for _, first in ipairs{1e-4, 0.01, 1, 50} do
         local x = torch.DoubleTensor{-1.2, 1}
         local f, g = rosenbrock(x)
         local d = -g
         local slope = g:dot(d)
         calls = 0
         local function seen(v)
            assert.is_true(rawequal(v, x))
            return rosenbrock(v)
         end
         local value, gradient, y, t, n = optim.lswolfe(seen, x, first, d, f, g, slope)
         assert.equal(calls, n)
         assert.is_true(rawequal(x, y))
         assert.is_true(distance(x, {-1.2 + t * d[1], 1 + t * d[2]}) < 1e-12)
         local again, slopes = rosenbrock(x)
         assert.is_true(math.abs(again - value) < 1e-9)
         assert.is_true(distance(gradient, slopes:totable()) < 1e-6)
         assert.is_true(value <= f + 1e-4 * t * slope)
         assert.is_true(math.abs(gradient:dot(d)) <= -0.9 * slope)
      end
      local x = torch.DoubleTensor{1, 1}
      bad("optim.lswolfe: argument 'd' is nil, wanted a tensor", optim.lswolfe, rosenbrock, x, 1)
      bad("optim.lswolfe: argument 't' is nil, wanted a number", optim.lswolfe, rosenbrock, x,
         nil, x, 1, x, 1)
   end)

   it('polyinterp gives the minimum of a cubic, within bounds', function()
      local function cubic(t) return {t, t ^ 3 - 3 * t + 1, 3 * t * t - 3} end -- least at 1
      for _, pair in ipairs{{0, 2}, {2, 0}, {0.5, 1.25}} do
         local points = {cubic(pair[1]), cubic(pair[2])}
         assert.is_true(math.abs(optim.polyinterp(points) - 1) < 1e-12)
         assert.is_true(math.abs(optim.polyinterp(torch.DoubleTensor(points)) - 1) < 1e-12)
      end
      assert.equal(1.5, optim.polyinterp({cubic(0), cubic(2)}, 1.5, 2))
      assert.equal(0.5, optim.polyinterp({cubic(0), cubic(2)}, 0, 0.5))
      assert.equal(0.5, optim.polyinterp{{0, 1, 0}, {1, 1, 0}}) -- flat
      assert.equal(3, optim.polyinterp{{3, 1, 1}, {3, 1, 1}}) -- one place
      bad('optim.polyinterp: the points are a nil, wanted two rows {place, value, slope}',
         optim.polyinterp)
      bad('optim.polyinterp: the points are a list of 3, wanted two rows {place, value, slope}',
         optim.polyinterp, {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}})
   end)

   it('FistaLS ends at the minimum of f plus the absolute values, of every type', function()
      local weight = 1.5
      local function absolute(x) return weight * x:norm(1) end
      local function shrink(x, L)
         local sign = torch.sign(x)
         x:abs():add(-weight / L):cmax(0):cmul(sign)
      end
      for _, typename in ipairs(types) do
         for _, accelerate in ipairs{true, false} do
            local x, params = make(typename, {9, 9, 9}), {maxiter = 400, errthres = 0,
               doFistaUpdate = accelerate}
            local memory = x:storage():data()
            local y, history = optim.FistaLS(bowl, absolute, shrink, x, params)
            assert.is_true(rawequal(x, y))
            assert.equal(memory, x:storage():data())
            -- soft(target, weight / curvature)
            assert.is_true(distance(x, {0, -1.5, 0.35}) < 1e-3, typename .. tostring(x))
            assert.is_true(#history > 5 and #history <= 400)
            assert.is_true(params.L >= 10 / 1.5 and params.L <= 15)
         end
      end
      local x = torch.DoubleTensor{0, 0, 0}
      bad("optim.FistaLS: argument 'g' is nil, wanted a function", optim.FistaLS, bowl, nil,
         shrink, x)
      bad("optim.FistaLS: argument 'params' is a number, wanted a table", optim.FistaLS, bowl,
         absolute, shrink, x, 3)
   end)

   local function skewed(x) return (x[1] - 0.5) ^ 2 + 100 * (x[2] + 0.25) ^ 2 end

   it('de and cmaes come to the minimum by values alone, and leave x as it is', function()
      for _, typename in ipairs{types[1], types[#types]} do
         local x = make(typename, {2, 2})
         local y, values = optim.de(skewed, x, {popsize = 12, scaleFactor = 0.6,
            crossoverRate = 0.8, maxFEs = 1000, minRegion = -3, maxRegion = 3})
         assert.is_true(distance(y, {0.5, -0.25}) < 1e-2)
         assert.equal(1008, values:nElement()) -- whole generations
         assert.is_true(math.abs(values:min() - skewed(y)) < 1e-6)
         torch.manualSeed(2)
         local z, history, evaluations = optim.cmaes(function(v) return skewed(v:view(2)) end,
            x:view(2, 1), {sigma = 0.5, ftarget = 1e-6, maxEval = 3000})
         assert.same({2, 1}, z:size():totable())
         assert.equal(typename, z:type())
         assert.is_true(distance(z:view(2), {0.5, -0.25}) < 1e-2)
         assert.equal(skewed(x), history[1])
         assert.is_true(history[#history] <= 1e-6 and evaluations <= 3000)
         assert.is_true(distance(x, {2, 2}) == 0)
      end
      bad('optim.de: maxFEs is nil, wanted a number', optim.de, skewed, make(types[1], {1, 1}),
         {scaleFactor = 1, crossoverRate = 1})
      bad('optim.cmaes: sigma is nil, wanted a number', optim.cmaes, skewed,
         make(types[1], {1, 1}))
   end)
end)
