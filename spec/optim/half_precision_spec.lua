-- dpt.optim.half_precision: optimization methods on parameters of a reduced type.
local both = require 'spec.support.both'
local copy = require 'dpt.clone'
local descent = require 'spec.support.descent'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local comm = dpt.comm
local dptffi = require 'dpt.ffi'
local C, lib = dptffi.C, dptffi.lib

local methods = {sgd = {learningRate = 0.01, momentum = 0.9, dampening = 0}, adam = {},
   adamw = {amsgrad = true}, adamax = {}, adagrad = {}, adadelta = {},
   rmsprop = {learningRate = 1e-3},
   nag = {learningRate = 0.01}, asgd = {eta0 = 0.01}, rprop = {stepsize = 1e-3}}
local start = torch.DoubleTensor{0.2, -0.2, 0.15, 0.24}
-- methods with one kernel for parameters of a reduced type: the method, and its config
local kernels = {{'sgd', {}}, {'sgd', {weightDecay = 0.1}}, {'sgd', {momentum = 0.9}},
   {'sgd', {momentum = 0.9, dampening = 0, nesterov = true, weightDecay = 0.1}},
   {'sgd', {momentum = 0.9, learningRates = true, weightDecays = true}}, {'adam', {}},
   {'adam', {weightDecay = 0.1}}, {'adam', {learningRates = true, weightDecays = true}},
   {'adamw', {}}, {'adamw', {weightDecays = true, amsgrad = true}},
   {'adamw', {learningRates = true}}}

-- Runs steps with a gradient of which one element's square is below the smallest half, one is 0,
-- and others are regular.
local function steps(name, x, config, state, count)
   local gradient = torch.DoubleTensor{1e-4, 0, 0.01, -0.5}:type(x:type())
   local f = function(y)
      assert(rawequal(x, y))
      return 1, gradient:clone()
   end
   for _ = 1, count do
      local y = optim[name](f, x, config, state)
      assert(rawequal(x, y))
   end
end

for _, element in ipairs(elements.reduced) do
   local host, device = torch[element .. 'Tensor'], torch[elements.onDevice(element) .. 'Tensor']
   local types = {torch.typename(host()), torch.typename(device())}
   local floats = {[types[1]] = 'torch.FloatTensor', [types[2]] = 'torch.CudaTensor'}
   local ROUNDING = both.tolerance(element, 2 ^ -12 / 2) -- of a number below 0.5

   describe('Methods of descent on parameters of ' .. element .. ':', function()
      for name, config in pairs(methods) do
         it('compute in float: optim.' .. name .. ' is as in double, but for rounding', function()
            local wanted = start:type(types[1]):double()
            steps(name, wanted, copy(config), {}, 8)
            local rounded = name == 'nag' and 16 or 8 -- also rounded before the gradient
            for _, typename in ipairs(types) do
               local x, state = start:type(typename), {}
               steps(name, x, copy(config), state, 8)
               assert.is_true(descent.distance(wanted, x) <= rounded * ROUNDING, typename)
               for key, value in pairs(state) do
                  if torch.isTensor(value) and not value:type():find 'Byte' then
                     assert.equal(floats[typename], value:type(), key)
                  end
               end
            end
         end)

         it('continue from a state of that type: optim.' .. name, function()
            local wanted, state = start:type(types[2]), {}
            steps(name, wanted, copy(config), state, 4)
            local x, reduced = wanted:clone(), copy(state)
            for key, value in pairs(reduced) do
               if torch.isTensor(value) and value:type() == 'torch.CudaTensor' then
                  reduced[key] = value:type(types[2])
               end
            end
            steps(name, wanted, copy(config), state, 1)
            steps(name, x, copy(config), reduced, 1)
            assert.is_true(x:eq(x):all())
            assert.equal(types[2], x:type())
            for key, value in pairs(reduced) do
               if torch.isTensor(value) then assert.equal(state[key]:type(), value:type(), key) end
            end
         end)
      end

      it('have the bits of steps in float, each rounded: optim.sgd, adam and adamw', function()
         local function same(a, b)
            return torch.serialize(a:float()) == torch.serialize(b:float())
         end
         for _, typename in ipairs(types) do
            for _, n in ipairs{1, 5, 5000, 1e5 + 3} do
               torch.manualSeed(n)
               local function random() return torch.randn(n + 1):type(typename):narrow(1, 2, n) end
               local initial, gradient = random(), random()
               local float = gradient:type(floats[typename])
               for i, case in ipairs(kernels) do
                  local name, config = case[1], copy(case[2])
                  config.learningRate = 0.01
                  for key, value in pairs(config) do
                     if value == true and key:find 's$' then config[key] = random():abs() end
                  end
                  local x, wanted = initial:clone(), initial:clone()
                  if n == 5 then x = initial end -- at an odd offset
                  local state, wantedState = {}, {}
                  for step = 1, 3 do
                     optim[name](function() return 0, gradient end, x, config, state)
                     local y = wanted:type(floats[typename])
                     optim[name](function() return 0, float:clone() end, y, config, wantedState)
                     wanted:copy(y)
                     local at = ('%s %d, case %d, step %d'):format(typename, n, i, step)
                     assert.is_true(same(wanted, x), at)
                     assert.is_true(same(float, gradient), at)
                     for key, value in pairs(wantedState) do
                        if torch.isTensor(value) then
                           assert.equal(floats[typename], state[key]:type())
                           assert.is_true(same(value, state[key]), at .. ': ' .. key)
                        end
                     end
                  end
               end
            end
         end
      end)

      it('find the minimum of a quadratic by optim.lbfgs and optim.cg', function()
         local target = torch.DoubleTensor{0.5, -1, 0.25, 2}
         for _, typename in ipairs(types) do
            for _, config in ipairs{{'lbfgs'}, {'lbfgs', lineSearch = optim.lswolfe}, {'cg'}} do
               local name = config[1]
               local x, b = torch.zeros(4):type(typename), target:type(typename)
               local y = optim[name](function(v)
                  assert(rawequal(x, v))
                  local d = v:double() - b:double()
                  return d:dot(d), (d * 2):type(typename)
               end, x, config)
               assert.is_true(rawequal(x, y))
               assert.is_true(descent.distance(target, x) < both.tolerance(element, 2e-3), name)
            end
         end
      end)

      it('accept factors of any type for each parameter', function()
         for _, name in ipairs{'sgd', 'adam', 'nag'} do
            local function result(typename, of)
               local x = start:type(types[1]):type(typename)
               steps(name, x, {learningRate = 0.01, momentum = 0.5, dampening = 0,
                  learningRates = torch.DoubleTensor{1, 0.5, 2, 0}:type(of),
                  weightDecays = torch.DoubleTensor{0, 1, 0, 1}:type(of)}, nil, 3)
               return x
            end
            local wanted = result('torch.DoubleTensor', 'torch.DoubleTensor')
            for _, typename in ipairs(types) do
               for _, of in ipairs{typename, floats[typename], 'torch.DoubleTensor'} do
                  local x = result(typename, of)
                  assert.is_true(descent.distance(wanted, x) <= 6 * ROUNDING, name .. of)
                  assert.equal(start:type(types[1])[4], x[4], name .. of)
               end
            end
         end
      end)

      it("use values that the script's function writes to the parameters", function()
         local x = device{2, 0.5}
         local gradient = device{1, 1}
         for _, name in ipairs{'sgd', 'adam', 'nag'} do
            x[1] = 2
            optim[name](function(y)
               y:clamp(-1, 1)
               return 0, gradient
            end, x, {learningRate = 0.25})
            assert.equal(0.75, x[1], name)
         end
      end)

      it('write the parameters once a step, after the function', function()
         local x, gradient = device(3):fill(1), device(3):fill(1)
         local state = {}
         for _ = 1, 3 do
            local before = comm.version{x}
            optim.adam(function()
               assert.equal(before, comm.version{x})
               return 0, gradient
            end, x, {}, state)
            assert.equal(before + 1, comm.version{x})
         end
      end)

      it('allocate nothing after the first step', function()
         for name, config in pairs(methods) do
            local x, gradient = device(1e5):fill(1), device(1e5):fill(1)
            local state = copy(config)
            local function step() optim[name](function() return 0, gradient end, x, state) end
            for _ = 1, 2 do step() end
            collectgarbage()
            collectgarbage()
            cutorch.synchronize()
            cutorch.resetPeakMemory()
            local live = cutorch.memoryStats().live
            for _ = 1, 3 do step() end
            cutorch.synchronize()
            assert.equal(live, cutorch.memoryStats().peak, name)
         end
      end)

      it('make no copies if the kernels take the type: optim.sgd, adam and adamw', function()
         local x, gradient = device(1e5):fill(1), device(1e5):fill(1)
         assert.equal(1, C.dpt_step_takes(host(1)))
         if C.dpt_step_takes(x) == 0 then return end -- a device that converts
         for name, states in pairs{sgd = 0, adam = 2, adamw = 2} do
            collectgarbage()
            collectgarbage()
            cutorch.synchronize()
            cutorch.resetPeakMemory()
            local live = cutorch.memoryStats().live
            optim[name](function() return 0, gradient end, x, {})
            cutorch.synchronize()
            local extra = cutorch.memoryStats().peak - live
            assert.is_true(extra >= states * 4e5 and extra < states * 4e5 + 1e5, name)
         end
      end)

      it('reject bad calls by the type that the script has', function()
         local x = device(2):fill(1)
         descent.bad("optim.adam: opfunc's gradient is a torch.CudaTensor of 2 elements, wanted a"
            .. ' ' .. types[2] .. ' of 2 elements as x', optim.adam,
            function() return 0, torch.CudaTensor(2) end, x, {})
         descent.bad("optim.adam: argument 'config' is a number, wanted a table", optim.adam,
            function() return 0, x end, x, 3)
         assert.equal(2, x:sum())
      end)

      it('are replayed by cutorch.graph with the bits of the steps themselves', function()
         for _, name in ipairs{'sgd', 'rmsprop', 'adagrad', 'adadelta', 'nag'} do
            local function problem()
               local x, gradient = start:type(types[2]), device(4)
               local state = copy(methods[name])
               return x, function()
                  optim[name](function(y) return 0, gradient:copy(y) end, x, state)
               end
            end
            local x, step = problem()
            local y, captured = problem()
            for _ = 1, 2 do
               step()
               captured()
            end
            local replay = cutorch.graph(captured)
            for _ = 1, 3 do
               step()
               replay()
            end
            assert.same(x:double():totable(), y:double():totable(), name)
         end
      end)

      it('train the flat parameters of nn.DataParallelTable as those of its network #devices2',
         function()
            torch.manualSeed(3)
            local net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):type(types[2])
            local replicas = nn.DataParallelTable(1, true):add(net:clone(), {1, 2})
            local input = torch.randn(6, 4):type(types[2])
            local results = {}
            for i, one in ipairs{net, replicas} do
               local x, gradient = one:getParameters()
               assert.equal(types[2], x:type())
               for _ = 1, 4 do
                  optim.rmsprop(function()
                     one:zeroGradParameters()
                     local output = one:forward(input)
                     one:backward(input, output)
                     return 0, gradient
                  end, x, {learningRate = 0.01, weightDecay = 0.1})
               end
               results[i] = x
            end
            assert.is_true(descent.distance(results[1], results[2]) < both.tolerance(element, 5e-3))
         end)
   end)
end

describe('The kernels of sgd and adam', function()
   it('write a rounded copy of the first floats', function()
      for _, typename in ipairs{'torch.FloatTensor', 'torch.CudaTensor'} do
         local x = torch.range(1, 4099):type(typename):div(4096)
         for _, element in ipairs(C.dpt_step_copies(x) ~= 0 and elements.reduced or {}) do
            for _, n in ipairs{0, 1, 4097, 4099} do
               local y, g, m, v = x:clone(), x:clone(), x:clone(), x:clone()
               local kind = typename:find 'Cuda' and elements.onDevice(element) or element
               local whole = torch[kind .. 'Tensor'](n + 2):fill(7)
               local head = n > 0 and whole:narrow(1, 2, n) or whole.new()
               for i = 1, 2 do
                  if i == 1 then
                     lib.sgd_mixed(y, g, nil, nil, nil, 0.3, 0, 0, 1, 0, 0, head, nil, nil, 0)
                  else
                     lib.adam_mixed(y, g, m, v, nil, nil, nil, 0.3, 0, 0.9, 0.99, 1e-8, 0, 0, head,
                        nil, nil, 0)
                  end
                  if n > 0 then
                     assert.is_true(head:equal(y:narrow(1, 1, n):type(head:type())))
                     assert.same({7, 7}, {whole[1], whole[n + 2]})
                  end
               end
            end
         end
      end
   end)
end)
