-- optim.LossScaler; spec/support/ranks/shares.lua has several ranks.
local copy = require 'dpt.clone'
local counts = require 'dpt.optim.counts'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local scaled = require 'dpt.optim.scaled'
local steps = require 'spec.support.steps'
local C = require('dpt.ffi').C
local torch, nn, optim, cutorch = dpt.torch, dpt.nn, dpt.optim, dpt.cutorch

local INF = math.huge
local queued = C.dpt_step_copies(torch.CudaTensor(1)) ~= 0 -- devices have the kernels
local methods = {sgd = {momentum = 0.9, dampening = 0, learningRateDecay = 0.1}, adam = {},
   adamw = {amsgrad = true}, adamax = {}, adagrad = {learningRateDecay = 0.1}, adadelta = {},
   rmsprop = {}, asgd = {}}
local graphs = not cutorch.getDeviceProperties(1).name:find 'host' -- others call f again

-- Returns the bits of all tensors and numbers of a state, with its counts as numbers.
local function bitsOf(state)
   local values = {evalCounter = state.evalCounter, t = state.t}
   for key, value in pairs(state) do
      if not counts.fields[key] then
         values[key] = torch.isTensor(value) and value:totable() or value
      end
   end
   return values
end

-- Raises unless a state is new: without counts, and with tensors of zeros.
local function assertNew(state)
   for key, value in pairs(bitsOf(state)) do
      for _, number in ipairs(type(value) == 'table' and value or {value}) do
         assert.is_true(number == 0 or key == 'epsilon', key)
      end
   end
end

-- Returns a function that does the steps of a plain GradScaler: step(isFinite).
local function reference(scale, growth, backoff, every)
   local self, streak, round = {scale = scale, skips = 0}, 0, torch.FloatTensor(1)
   function self.step(isFinite)
      streak = isFinite and streak + 1 or 0
      if not isFinite then self.skips = self.skips + 1 end
      if isFinite and streak < every then return end
      streak = 0
      local next = round:fill(self.scale * (isFinite and growth or backoff))[1]
      if next < INF then self.scale = math.max(next, 2 ^ -126) end
   end
   return self
end

describe('optim.LossScaler', function()
   for name, config in pairs(methods) do
      for _, kind in ipairs{'Float', 'Double', 'Cuda', 'Half', 'BFloat16', 'CudaHalf'} do
         it(('divides and skips: optim.%s of a %sTensor'):format(name, kind), function()
            local make = torch[kind .. 'Tensor']
            local x, y, own, other = make{1, -2, 0.5}, make{1, -2, 0.5}, {}, {}
            local scaler = optim.LossScaler{scale = 1024, every = 2}
            local withScaler = copy(config)
            withScaler.scaler = scaler
            local function step(values)
               local loss = optim[name](function() return 3, scaler:scale(make(values)) end, x,
                  withScaler, own)
               assert.is_true(rawequal(x, loss))
            end
            step{INF, 1, 1} -- the first step is skipped, too
            assert.same({1, -2, 0.5}, x:totable())
            assertNew(own)
            for i = 1, 4 do
               local values = {0.25 * i, -0.5, 1}
               step(values)
               optim[name](function() return 3, make(values) end, y, copy(config), other)
               assert.same(y:totable(), x:totable())
               assert.same(bitsOf(other), bitsOf(own))
               for _, bad in ipairs{INF, -INF, 0 / 0} do
                  step{1, bad, 1}
                  assert.same(y:totable(), x:totable())
                  assert.same(bitsOf(other), bitsOf(own))
               end
            end
            assert.equal(13, scaler:skipped())
         end)
      end
   end

   it('has the scales of PyTorch #recorded', function()
      -- torch.amp.GradScaler('cpu', 1024, 4, 0.25, 3), where _ is a finite step
      local scaler, got = optim.LossScaler{scale = 1024, growth = 4, backoff = 0.25, every = 3}, {}
      for step in ('___x__x_______'):gmatch '.' do
         scaler:prepare(torch.FloatTensor{step == 'x' and INF or 1})
         got[#got + 1] = scaler:getScale()
      end
      assert.same({1024, 1024, 4096, 1024, 1024, 1024, 256, 256, 256, 1024, 1024, 1024, 4096,
         4096}, got)
   end)

   for _, kind in ipairs{'Float', 'Cuda', 'CudaDouble'} do
      it(('has the scales of a plain program in 300 random sequences: %sTensor'):format(kind),
         function()
            local make = torch[kind .. 'Tensor']
            for _ = 1, 300 do
               local scale, growth = 2 ^ torch.random(-126, 127), torch.uniform() < 0.5 and 2 or 3.7
               local backoff, every = torch.uniform(0.1, 0.9), torch.random(1, 4)
               local plain = reference(scale, growth, backoff, every)
               local scaler = optim.LossScaler{scale = scale, growth = growth, backoff = backoff,
                  every = every}
               local likely = torch.uniform()
               for _ = 1, torch.random(1, 20) do
                  local isFinite = torch.uniform() < likely
                  assert.equal(isFinite, scaler:prepare(make{isFinite and 1 or -INF}))
                  plain.step(isFinite)
                  assert.same({plain.scale, plain.skips}, {scaler:getScale(), scaler:skipped()})
               end
            end
         end)
   end

   it('keeps its scale among the normal floats', function()
      local most = optim.LossScaler{scale = 2 ^ 127, every = 1}
      most:prepare(torch.DoubleTensor{1})
      assert.equal(2 ^ 127, most:getScale())
      local least = optim.LossScaler{scale = 2 ^ -125}
      for _ = 1, 3 do least:prepare(torch.FloatTensor{INF}) end
      assert.equal(2 ^ -126, least:getScale())
   end)

   it('takes the largest number of steps until the scale increases', function()
      local scaler = optim.LossScaler{scale = 8, every = 1e20}
      for _ = 1, 3 do scaler:prepare(torch.FloatTensor{1}) end
      assert.equal(8, scaler:getScale())
   end)

   it('scales tables of tensors, in buffers', function()
      local scaler = optim.LossScaler{scale = 4}
      local given = {torch.HalfTensor{1, 2}, {torch.CudaTensor{3}, torch.FloatTensor{4}}}
      local got = scaler:scale(given)
      assert.same({4, 8}, got[1]:totable())
      assert.same({12, 16}, {got[2][1][1], got[2][2][1]})
      assert.same({'torch.HalfTensor', 'torch.CudaTensor'}, {got[1]:type(), got[2][1]:type()})
      assert.same({1, 2}, given[1]:totable())
      local first = got[1]
      assert.is_true(rawequal(first, scaler:scale(given)[1]))
      assert.same({8}, scaler:scale(torch.FloatTensor{2}):totable())
      assert.equal(1024, scaler:scale(torch.HalfTensor{256})[1])
      assert.same(1, #scaler:scale{torch.FloatTensor{2}})
      for _, kind in ipairs{'', 'Cuda'} do
         assert.equal(8, scaler:scale(torch[kind .. 'LongTensor']{2})[1])
         scaler:prepare(torch[kind == '' and 'FloatTensor' or 'CudaTensor']{1})
         assert.equal(8, scaler:scale(torch[kind .. 'LongTensor']{2})[1])
      end
   end)

   it('unscales a gradient once before a step', function()
      local scaler = optim.LossScaler{scale = 8}
      local x, g = torch.CudaTensor{1, 1}, torch.CudaTensor{24, 32}
      optim.sgd(function()
         assert.is_true(rawequal(g, scaler:unscale(g)))
         assert.same({3, 4}, g:totable())
         assert.equal(5, scaler:norm()[1])
         assert.equal('torch.CudaTensor', scaler:norm():type())
         assert.error_matches(function() scaler:unscale(g) end, 'unscale was called twice', 1, true)
         return 0, g:mul(0.5)
      end, x, {learningRate = 0.5, scaler = scaler})
      assert.same({0.25, 0}, x:totable())
      scaler:unscale(torch.FloatTensor{INF, 8})
      assert.equal(INF, scaler:norm()[1])
      assert.is_false(scaler:prepare(g))
      assert.same({1.5, 2}, g:totable())
   end)

   it('computes the norm of halves in float', function()
      local scaler = optim.LossScaler{scale = 2}
      local x, g = torch.HalfTensor(400):fill(1), torch.HalfTensor(400):fill(60000)
      optim.sgd(function() return 0, g end, x, {learningRate = 2 ^ -14, scaler = scaler})
      assert.equal(0, scaler:skipped())
      assert.equal(600000, scaler:norm()[1])
   end)

   it('trains in half with gradients that are too small for halves', function()
      local net = nn.Linear(1, 1, false):type 'torch.HalfTensor'
      net.weight:fill(1)
      local params, gradients = net:getParameters()
      local input, criterion = torch.HalfTensor{{2 ^ -10}}, nn.MSECriterion():half()
      local scaler = optim.LossScaler{scale = 2 ^ 14}
      optim.sgd(function()
         gradients:zero()
         local f = criterion:forward(net:forward(input), torch.HalfTensor{{0}})
         net:backward(input, scaler:scale(criterion:backward(net.output, torch.HalfTensor{{0}})))
         return f, gradients
      end, params, {learningRate = 2 ^ 18, scaler = scaler})
      assert.equal(0.5, params[1]) -- 1 - 2^18 * 2 * 2^-20
   end)

   it('is saved and cloned', function()
      local scaler = optim.LossScaler{scale = 16, every = 2}
      scaler:scale(torch.FloatTensor(1000))
      scaler:prepare(torch.FloatTensor{INF})
      scaler:prepare(torch.FloatTensor{1})
      local text = torch.serialize(scaler)
      assert.is_true(#text < 1000)
      for _, other in ipairs{torch.deserialize(text), copy(scaler)} do
         assert.same({8, 1}, {other:getScale(), other:skipped()})
         other:prepare(torch.FloatTensor{1})
         assert.equal(16, other:getScale())
      end
      assert.equal(8, scaler:getScale())
   end)

   it('is saved and cloned after steps on a device', function()
      local scaler = optim.LossScaler{scale = 16, every = 2}
      for _, g in ipairs{INF, 1} do scaler:prepare(torch.CudaTensor{g}) end
      for _, other in ipairs{torch.deserialize(torch.serialize(scaler)), copy(scaler)} do
         assert.same({8, 1}, {other:getScale(), other:skipped()})
         other:prepare(torch.FloatTensor{1}) -- in host memory
         assert.equal(16, other:getScale())
      end
      assert.equal(8, scaler:getScale())
   end)

   it('is saved and cloned between unscale and the step', function()
      for _, kind in ipairs{'Float', 'Cuda'} do
         for _, value in ipairs{4, INF} do
            for _, isSaved in ipairs{false, true} do
               local scaler, x = optim.LossScaler{scale = 4}, torch[kind .. 'Tensor']{1}
               local g = scaler:unscale(torch[kind .. 'Tensor']{value})
               local other = isSaved and torch.deserialize(torch.serialize(scaler)) or copy(scaler)
               optim.sgd(function() return 0, g end, x, {learningRate = 1, scaler = other})
               assert.same({value == 4 and 0 or 1, scaler:getScale(), scaler:skipped()},
                  {x[1], other:getScale(), other:skipped()})
               other:unscale(g) -- of the next step
            end
         end
      end
   end)

   it('moves with the gradient from host to device and back', function()
      local scaler = optim.LossScaler{scale = 4, every = 3}
      for _, kind in ipairs{'Float', 'Cuda', 'Double', 'CudaDouble', 'Cuda'} do
         scaler:prepare(torch[kind .. 'Tensor']{1})
         local scale = scaler:getScale()
         for _, other in ipairs{'CudaHalf', 'Float'} do
            assert.equal(scale, scaler:scale(torch[other .. 'Tensor']{1})[1])
         end
      end
      assert.equal(8, scaler:getScale())
   end)

   it('scales and divides on several devices #devices2', function()
      local scaler = optim.LossScaler{scale = 4, every = 1}
      local one = torch.CudaTensor{1}
      local two = cutorch.withDevice(2, function() return torch.CudaTensor{1} end)
      scaler:prepare(torch.CudaTensor{1})
      local list = scaler:scale{one, two}
      assert.same({8, 8}, {list[1][1], list[2][1]})
      assert.equal(2, list[2]:getDevice())
      scaler:unscale(list[2])
      assert.same({1, 16}, {list[2][1], scaler:getScale()})
      assert.equal(16, scaler:scale(one)[1])
      assert.equal(16, scaler:scale(two)[1]) -- in a buffer that was on the other device
   end)

   for _, kind in ipairs{'Cuda', 'CudaDouble', 'CudaHalf', 'CudaBFloat16'} do
      it(('waits for nothing in steps of sgd, adam and adamw: %sTensor'):format(kind), function()
         local make = torch[kind .. 'Tensor']
         for _, name in ipairs{'sgd', 'adam', 'adamw', 'adamax'} do
            local scaler, state = optim.LossScaler{scale = 8, every = 1}, {}
            local x, good, bad = make{1, 2, 3}, make{4, 5, 6}, make{4, INF, 6}
            local config = {learningRateDecay = 0.1, scaler = scaler}
            local function step(g) optim[name](function() return 0, scaler:scale(g) end, x, config,
               state) end
            step(good)
            local before = steps.waits()
            for i = 1, 4 do step(i % 2 == 0 and good or bad) end
            local isQueued = queued and name ~= 'adamax'
            assert.equal(isQueued and 0 or 4, steps.waits() - before, name)
            assert.equal(2, scaler:skipped())
         end
      end)
   end

   it('waits for nothing if the gradient is clipped before the step', function()
      local x, y = torch.CudaTensor{1, 1}, torch.CudaTensor{1, 1}
      local scaler = optim.LossScaler{scale = 8}
      local gradient, norm, before = torch.CudaTensor(2), torch.CudaTensor(), nil
      for i = 1, 4 do
         optim.sgd(function()
            local g = scaler:unscale(scaler:scale(gradient:fill(i == 3 and INF or 3)))
            nn.utils.clipGradNorm(g, 1, 2, norm)
            return 0, g
         end, x, {learningRate = 0.5, scaler = scaler})
         before = before or steps.waits()
      end
      assert.equal(queued and 0 or 6, steps.waits() - before)
      for _ = 1, 3 do
         nn.utils.clipGradNorm(gradient:fill(3), 1, 2, norm)
         optim.sgd(function() return 0, gradient end, y, {learningRate = 0.5})
      end
      assert.same({y:totable(), 1, 4}, {x:totable(), scaler:skipped(), scaler:getScale()})
   end)

   local resumed = {sgd = {momentum = 0.9, dampening = 0.2, learningRateDecay = 0.1,
      weightDecay = 0.1}, adam = {learningRateDecay = 0.1, amsgrad = true}, adamw = {}}
   for name, config in pairs(resumed) do
      it(('resumes with and without a scaler: optim.%s'):format(name), function()
         for _, skips in ipairs{0, 2} do -- of them, the first steps
            local x, y, one, state = torch.CudaTensor{1, -2}, torch.CudaTensor{1, -2}, {}, {}
            local scaler = optim.LossScaler{scale = 8, every = 2}
            for i = 1, 12 do
               local own = copy(config)
               own.scaler = i % 6 < 3 and scaler or nil -- 1 and 2, 6 to 8 and 12
               local g = torch.CudaTensor{0.3 * i, -1}
               local isBad = own.scaler and (i <= skips or i == 7)
               if i % 3 == 0 then
                  state = torch.deserialize(torch.serialize(state))
                  if own.scaler then scaler = torch.deserialize(torch.serialize(scaler)) end
                  own.scaler = own.scaler and scaler
               end
               optim[name](function()
                  local scaledOne = own.scaler and own.scaler:scale(g) or g:clone()
                  if isBad then scaledOne[1] = 0 / 0 end
                  return 0, scaledOne
               end, x, own, state)
               if not isBad then
                  optim[name](function() return 0, g:clone() end, y, copy(config), one)
               end
               assert.same(y:totable(), x:totable())
            end
            assert.same(bitsOf(one), bitsOf(state))
            assert.equal(skips + 1, scaler:skipped())
         end
      end)
   end

   it('begins a new count if a script assigns it', function()
      for name, key in pairs{sgd = 'evalCounter', adam = 't', adamw = 't'} do
         for _, loads in ipairs{false, true} do
            local state, x = {}, torch.CudaTensor{1}
            local config = {scaler = optim.LossScaler()}
            local function step()
               optim[name](function() return 0, torch.CudaTensor{1} end, x, config, state)
            end
            for _, value in ipairs{0, 7} do
               for _ = 1, 2 do step() end
               if loads then state = torch.deserialize(torch.serialize(state)) end
               state[key] = value
               assert.equal(value, state[key])
               step()
               assert.equal(value + 1, state[key])
            end
            state[key] = nil
            assert.equal(0, state[key])
            step()
            assert.equal(1, state[key])
         end
      end
   end)

   it('takes the first gradient as the velocity after steps without a momentum', function()
      local x, state, scaler = torch.CudaTensor{1}, {}, optim.LossScaler{scale = 2}
      for _, one in ipairs{{INF, 0.5}, {1, 0}, {2, 0.5}} do
         local config = {momentum = one[2], learningRate = 1, scaler = scaler}
         optim.sgd(function() return 0, torch.CudaTensor{one[1]} end, x, config, state)
      end
      assert.same({-2, 2}, {x[1], state.dfdx[1]}) -- after a skipped step, whose velocity is new
   end)

   it('does not lose that all steps were skipped if a script assigns the count', function()
      for _, kind in ipairs{'Cuda', 'Float'} do
         local x, state = torch.CudaTensor{1}, {}
         local config = {momentum = 0.5, learningRate = 1, scaler = optim.LossScaler{scale = 2}}
         optim.sgd(function() return 0, torch.CudaTensor{INF} end, x, config, state)
         state.evalCounter = 3
         if kind == 'Float' then x = x:float() end
         optim.sgd(function() return 0, x:clone():fill(1) end, x, config, state)
         assert.equal(0, x[1]) -- the velocity is the first gradient, without the dampening
         assert.equal(4, state.evalCounter)
      end
   end)

   it('continues with a state that a script has converted to another type', function()
      for name, key in pairs{sgd = 'evalCounter', adam = 't'} do
         local state, x = {}, torch.CudaTensor{1, -2}
         local config = {momentum = 0.9, scaler = optim.LossScaler()}
         for i, kind in ipairs{'Float', 'Cuda', 'CudaDouble', 'Double'} do
            optim[name](function() return 0, torch.CudaTensor{1, 1} end, x, config, state)
            assert.equal(i, state[key])
            for field, value in pairs(state) do
               if torch.isTensor(value) then
                  state[field] = value:type(('torch.%sTensor'):format(kind))
               end
            end
         end
      end
   end)

   it('takes factors for each parameter, nesterov and a momentum that begins later', function()
      local vector = torch.CudaTensor{0.5, 2}
      for _, one in ipairs{{'sgd', {momentum = 0.9, dampening = 0, nesterov = true}},
         {'sgd', {momentum = 0.5, learningRates = vector, weightDecays = vector}},
         {'adam', {learningRates = vector, weightDecays = vector, amsgrad = true}},
         {'adam', {weightDecay = 0.1}},
         {'adamw', {learningRates = vector, weightDecays = vector}}} do
         local name, config = unpack(one)
         local x, y, own, other = torch.CudaTensor{1, -2}, torch.CudaTensor{1, -2}, {}, {}
         local scaler = optim.LossScaler{scale = 8}
         for i = 1, 6 do
            local with, without = copy(config), copy(config)
            if i <= 2 then with.momentum, without.momentum = nil, nil end
            if i <= 2 then with.nesterov, without.nesterov = nil, nil end
            with.scaler = scaler
            local g = torch.CudaTensor{i, 0.1}
            optim[name](function() return 0, scaler:scale(g) end, x, with, own)
            optim[name](function() return 0, torch.CudaTensor{INF, 1} end, x, with, own)
            optim[name](function() return 0, g end, y, without, other)
            assert.same(y:totable(), x:totable())
            assert.same(bitsOf(other), bitsOf(own))
         end
      end
   end)

   for _, kind in ipairs{'Cuda', 'CudaDouble', 'CudaHalf', 'CudaBFloat16'} do
      it(('steps long vectors with the bits of steps without a scaler: %sTensor'):format(kind),
         function()
            torch.manualSeed(2)
            local n = 5003
            local start = torch[kind .. 'Tensor'](n):uniform(-1, 1)
            local gradient = start:clone():uniform(-1, 1)
            for name, config in pairs{sgd = {momentum = 0.9, weightDecay = 0.1}, adam = {},
               adamw = {amsgrad = true}} do
               local x, y, own, other = start:clone(), start:clone(), {}, {}
               local with = copy(config)
               with.scaler = optim.LossScaler{scale = 4}
               for i = 1, 3 do
                  local g = gradient:clone():mul(with.scaler:getScale()) -- exact
                  if i == 2 then g[n] = INF end
                  optim[name](function() return 0, g end, x, with, own)
                  if i ~= 2 then
                     optim[name](function() return 0, gradient:clone() end, y, config, other)
                  end
                  assert.is_true(x:equal(y))
               end
               for _, key in ipairs(name == 'sgd' and {'dfdx'} or {'m', 'v'}) do
                  assert.is_true(own[key]:equal(other[key]))
               end
            end
         end)
   end

   it('divides the gradient in place, and leaves one that is not finite as it is', function()
      for _, kind in ipairs{'Float', 'Cuda'} do
         local x, g = torch[kind .. 'Tensor']{1, 1}, torch[kind .. 'Tensor']{24, 32}
         local scaler, state = optim.LossScaler{scale = 8}, {}
         optim.adam(function() return 0, g end, x, {scaler = scaler}, state)
         assert.same({{3, 4}, 5}, {g:totable(), scaler:norm()[1]})
         g:fill(INF)
         optim.adam(function() return 0, g end, x, {scaler = scaler}, state)
         assert.same({INF, INF}, g:totable())
      end
   end)

   it('waits on devices without the kernels, with the same results', function()
      local hasKernels = scaled.hasKernels
      local results = {}
      for i = 1, 2 do
         if i == 2 then scaled.hasKernels = function() return false end end
         local scaler, state = optim.LossScaler{scale = 8, every = 2}, {}
         local x = torch.CudaTensor{1, -2}
         for k = 1, 8 do
            local g = scaler:scale(torch.CudaTensor{k == 4 and INF or k, 1})
            optim.adam(function() return 0, k % 2 == 0 and scaler:unscale(g) or g end, x,
               {scaler = scaler}, state)
         end
         results[i] = {x:totable(), bitsOf(state), scaler:getScale(), scaler:skipped(),
            scaler:norm()[1], scaler:norm():type()}
      end
      scaled.hasKernels = hasKernels
      assert.same(results[1], results[2])
   end)

   for _, element in ipairs(elements.reduced) do
      it(('writes the 16-bit copy in skipped steps, too: nn.MixedPrecision in %s'):format(element),
         function()
            for _, name in ipairs{'sgd', 'adam'} do
               torch.manualSeed(1)
               local net = nn.MixedPrecision(nn.Linear(7, 5):cuda(), element:lower())
               local x, g = net:getParameters()
               local scaler, state = optim.LossScaler{scale = 8}, {}
               local function step(value)
                  optim[name](function() return 0, g:fill(value) end, x, {scaler = scaler}, state)
               end
               step(8)
               local before = steps.waits()
               x:add(0.3)
               local wanted = x:clone()
               step(0 / 0)
               assert.equal(queued and 0 or 1, steps.waits() - before)
               assert.is_true(x:equal(wanted))
               local at = 1
               for _, t in ipairs(net:workingParameters()) do
                  local part = wanted:narrow(1, at, t:nElement()):viewAs(t)
                  assert.is_true(t:equal(part:type(t:type())))
                  at = at + t:nElement()
               end
            end
         end)
   end

   it('is replayed by cutorch.graph with the bits of the steps themselves', function()
      if not queued then return end
      local all = {sgd = {momentum = 0.9, dampening = 0, learningRateDecay = 0.1},
         adam = {learningRateDecay = 0.1}, adamw = {amsgrad = true}}
      for name, config in pairs(all) do
         for _, kind in ipairs{'Cuda', 'CudaHalf'} do
            local function problem()
               local make = torch[kind .. 'Tensor']
               local x, g, own = make{1, -2, 3}, make{1, 2, 3}, copy(config)
               own.scaler = optim.LossScaler{scale = 64, every = 2}
               local state = {}
               return {x = x, g = g, state = state, scaler = own.scaler, step = function()
                  optim[name](function() return 0, own.scaler:scale(g) end, x, own, state)
               end}
            end
            local eager, captured = problem(), problem()
            if graphs then
               assert.error_matches(function() cutorch.graph(captured.step) end, 'first step')
            end
            eager.step()
            captured.step()
            local replay = cutorch.graph(captured.step)
            for i = 1, 7 do
               for _, one in ipairs{eager, captured} do one.g:fill(i % 3 == 0 and INF or i) end
               eager.step()
               replay()
               assert.same(eager.x:double():totable(), captured.x:double():totable())
               assert.same(bitsOf(eager.state), bitsOf(captured.state))
               assert.same({eager.scaler:getScale(), eager.scaler:skipped()},
                  {captured.scaler:getScale(), captured.scaler:skipped()})
               assert.equal(eager.scaler:norm()[1], captured.scaler:norm()[1])
            end
            assert.equal(2, captured.scaler:skipped())
         end
      end
   end)

   it('is replayed by cutorch.graph between other steps', function()
      if not queued then return end
      for _, what in ipairs{'step', 'unscale', 'rest'} do
         local function problem()
            local own = {g = torch.CudaTensor{1, 2}, x = torch.CudaTensor{1, -2}, state = {},
               scaler = optim.LossScaler{scale = 64, every = 3}}
            function own.unscale() return own.scaler:unscale(own.scaler:scale(own.g)) end
            function own.stepWith(f)
               optim.adam(function() return 0, f() end, own.x, {scaler = own.scaler}, own.state)
            end
            function own.step() own.stepWith(own.unscale) end
            function own.rest() own.stepWith(function() return own.unscaled end) end
            own.step()
            return own
         end
         local eager, captured = problem(), problem()
         if what == 'rest' then captured.unscaled = captured.unscale() end
         local norm = captured.scaler:norm()[1]
         local replay = cutorch.graph(captured[what])
         assert.equal(norm, captured.scaler:norm()[1])
         if what == 'rest' then
            replay()
            eager.step()
         end
         for i = 1, 6 do
            eager.g:fill(i == 4 and INF or i)
            captured.g:fill(i == 4 and INF or i)
            eager.step()
            if i % 2 == 0 then
               captured.step()
            elseif what ~= 'unscale' then
               if what == 'rest' then captured.unscale() end
               replay()
            else
               captured.stepWith(replay)
            end
            assert.same({eager.x:totable(), bitsOf(eager.state), eager.scaler:norm()[1]},
               {captured.x:totable(), bitsOf(captured.state), captured.scaler:norm()[1]})
         end
      end
   end)

   it('is not changed by a capture that fails', function()
      if not graphs then return end
      local scaler, x, state = optim.LossScaler{scale = 4}, torch.CudaTensor{1}, {}
      local config = {learningRate = 1, scaler = scaler}
      local function step(waits)
         optim.sgd(function()
            local g = scaler:unscale(torch.CudaTensor(1):fill(4))
            return waits and g[1] or 0, g
         end, x, config, state)
      end
      step()
      assert.error_matches(function() cutorch.graph(step, true) end, 'waits', 1, true)
      step()
      assert.same({-1, 2}, {x[1], state.evalCounter})
   end)

   it('is not replayed after its numbers or counts have moved to host memory', function()
      if not (graphs and queued) then return end
      for _, what in ipairs{'scaler', 'count', 'count in the config'} do
         local scaler, x = optim.LossScaler{scale = 4}, torch.CudaTensor{1}
         local config, g = {scaler = scaler}, torch.CudaTensor{1}
         local state = what == 'count' and {} or config
         local function f() return 0, g end
         local function step() optim.sgd(f, x, config, state) end
         step()
         local replay = cutorch.graph(step)
         replay()
         if what == 'scaler' then
            scaler:prepare(torch.FloatTensor{1})
            assert.error_matches(replay, "'numbers' of optim.LossScaler has changed", 1, true)
         else
            optim.sgd(f, x, {}, state)
            assert.equal(3, state.evalCounter)
            assert.error_matches(replay, "'evalCounterOnDevice' of the state of optim.sgd has", 1,
               true)
         end
      end
   end)

   it('is used by optim.ZeroRedundancyOptimizer in a world of one', function()
      local scaler, x, state = optim.LossScaler{scale = 4}, torch.FloatTensor{1}, {}
      local zero = optim.ZeroRedundancyOptimizer(optim.adam)
      for _, g in ipairs{1, INF, 1} do
         zero(function() return 0, scaler:scale(torch.FloatTensor{g}) end, x, {scaler = scaler},
            state)
      end
      assert.same({2, 1}, {state.t, scaler:skipped()})
   end)

   it('rejects wrong settings and arguments', function()
      local function raises(text, f) assert.error_matches(f, text, 1, true) end
      for key, values in pairs{scale = {0, -1, 0 / 0, INF, 'x'}, growth = {1, 0.5, INF, 0 / 0},
         backoff = {0, 1, 2, 0 / 0}, every = {0, 1.5, INF, 0 / 0}, rate = {1}} do
         for _, value in ipairs(values) do
            raises(("optim.LossScaler: setting '%s' is "):format(key),
               function() optim.LossScaler{[key] = value} end)
         end
      end
      raises("argument 'settings' is a number, wanted a table",
         function() optim.LossScaler(3) end)
      local scaler = optim.LossScaler()
      raises("argument 'gradOutput' is nil, wanted a tensor or a table of tensors",
         function() scaler:scale() end)
      for _, bad in ipairs{2, torch.HalfTensor{1}, torch.LongTensor{1}} do
         raises("argument 'gradient' is", function() scaler:unscale(bad) end)
      end
      local x = torch.FloatTensor{1}
      local function f() return 0, torch.FloatTensor{1} end
      raises("optim.sgd: argument 'scaler' is a number, wanted an optim.LossScaler",
         function() optim.sgd(f, x, {scaler = 3}) end)
      raises("argument 'scaler' is a number, wanted an optim.LossScaler",
         function() optim.ZeroRedundancyOptimizer(optim.sgd)(f, x, {scaler = 3}) end)
      for _, name in ipairs{'lbfgs', 'cg', 'nag', 'rprop'} do
         raises(("optim.%s: the setting 'scaler' is for methods that evaluate f once"):format(name),
            function() optim[name](f, x, {scaler = scaler}) end)
      end
   end)
end)
