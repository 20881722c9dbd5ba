-- cutorch.graph: replays have the bits of the captured calls; calls that cannot be replayed raise.
local both = require 'spec.support.both'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch, nn, cutorch, optim = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim
local ffi = require('dpt.ffi').ffi
local C, lib = require('dpt.ffi').C, require('dpt.ffi').lib
local random = require 'dpt.parallel.dispatch.random'
local run = require 'spec.support.run'

--- True for devices that run CUDA kernels; host devices call f again and have their own spec.
local graphs = not cutorch.getDeviceProperties(1).name:find 'host'

local function bits(a, b)
   a, b = a:float(), b:float()
   assert.equal(a:nElement(), b:nElement())
   assert.equal(0, a:ne(b):sum())
end

--- Returns a network, its criterion and a batch, equal in every call.
local function problem()
   torch.manualSeed(7)
   local net = nn.Sequential():add(nn.Linear(20, 32)):add(nn.BatchNormalization(32)):add(nn.ReLU())
      :add(nn.View(2, 4, 4)):add(nn.SpatialConvolution(2, 3, 3, 3)):add(nn.Tanh())
      :add(nn.SpatialMaxPooling(2, 2, 1, 1)):add(nn.View(3)):add(nn.Linear(3, 5))
      :add(nn.LogSoftMax()):cuda()
   local criterion = nn.ClassNLLCriterion():cuda()
   local input, target = torch.randn(16, 20):cuda(), torch.range(1, 16):remainder(5):add(1):cuda()
   local x, dx = net:getParameters()
   local config = {learningRate = 0.1, momentum = 0.9, weightDecay = 1e-3}
   local function feval()
      dx:zero()
      local loss = criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      return loss, dx
   end
   return {
      net = net, input = input, target = target, x = x, dx = dx, config = config,
      step = function()
         local _, f = optim.sgd(feval, x, config)
         return f[1]
      end,
   }
end

describe('cutorch.graph', function()
   it('replays a training step with the bits of the steps themselves', function()
      local eager, captured = problem(), problem()
      for _ = 1, 2 do
         eager.step()
         captured.step()
      end
      local g = cutorch.graph(captured.step)
      bits(eager.x, captured.x) -- capturing runs nothing
      for i = 1, 5 do
         eager.input:add(0.1)
         captured.input:add(0.1) -- replays read the current values of captured tensors
         local want, got = eager.step(), g()
         if type(got) ~= 'number' then
            assert.equal(1, got:nElement())
            got = got[1]
         end
         assert.equal(want, got, i)
         bits(eager.x, captured.x)
         bits(eager.net:get(2).running_mean, captured.net:get(2).running_mean)
      end
   end)

   it("returns f's results, also none and nil", function()
      local x = torch.CudaTensor(3):fill(1)
      local g = cutorch.graph(function(a) return nil, a, x:add(1), nil end, 'given')
      g()
      local list = {n = select('#', g()), g()}
      assert.equal(4, list.n)
      assert.is_nil(list[1])
      assert.equal('given', list[2])
      assert.equal(3 + 3 * 3, list[3]:sum())
      assert.equal(0, select('#', cutorch.graph(function() x:add(1) end)()))
      assert.error_matches(function() cutorch.graph(3) end, 'wanted a function')
   end)

   it('draws new numbers in each replay, the same as the calls themselves', function()
      local net = nn.Sequential():add(nn.Dropout(0.5)):add(nn.WhiteNoise(0, 1)):add(nn.RReLU())
      net:add(nn.View(6, 5, 4))
      net:add(nn.MultiheadAttention(4, 2, {causal = true, dropout = 0.5, rotary = true}))
      if not cutorch.getDeviceProperties(1).name:find 'emulated' then -- these have no cuDNN
         net:add(dpt.cudnn.LSTM(4, 4, 2, false, 0.5))
      end
      net:cuda()
      local input = torch.CudaTensor(6, 20):fill(1)
      local extra = torch.CudaTensor(7)
      local function step()
         net:forward(input)
         net:backward(input, net.output)
         extra:normal()
         return net.output
      end
      step()
      cutorch.manualSeed(5)
      local expected, seen = {}, {}
      for i = 1, 3 do
         expected[i] = {step():clone(), net.gradInput:clone(), extra:clone(),
            torch.CudaTensor(5):uniform()}
      end
      local last = cutorch.getRNGState()
      cutorch.manualSeed(5)
      local g = cutorch.graph(step)
      for i = 1, 3 do
         g()
         seen[i] = {net.output:clone(), net.gradInput:clone(), extra:clone(),
            torch.CudaTensor(5):uniform()} -- numbers drawn between replays do not belong to a graph
         for k = 1, 4 do bits(expected[i][k], seen[i][k]) end
      end
      assert.is_true(last:equal(cutorch.getRNGState()))
      assert.is_false(seen[1][1]:equal(seen[2][1]))
      g() -- two queued replays draw different numbers
      local first = extra:clone()
      g()
      assert.is_false(first:equal(extra))
   end)

   it("counts a replay's writes, so that replicas become stale", function()
      local x = torch.CudaTensor(3):fill(1)
      local g = cutorch.graph(function() x:add(1) end)
      local before = C.dpt_storage_writes(x.storage_)
      g()
      assert.is_true(C.dpt_storage_writes(x.storage_) > before)
   end)

   it('is replayed in the order of the current stream', function()
      cutorch.reserveStreams(2, true)
      local x = torch.CudaTensor(1000):fill(1)
      local g = cutorch.graph(function() x:mul(2) end)
      cutorch.setStream(2)
      cutorch.streamSleep(20)
      x:add(1)
      g()
      x:add(1)
      assert.equal(5000, x:sum())
      cutorch.setDefaultStream()
   end)

   it('raises the error of a kernel in a replay', function()
      local x, y = torch.CudaIntTensor(3):fill(6), torch.CudaIntTensor(3):fill(2)
      local g = cutorch.graph(function() x:cdiv(y) end)
      g()
      cutorch.synchronize()
      y:zero()
      g()
      assert.error_matches(function() cutorch.synchronize() end, 'divisor is 0')
      cutorch.synchronize()
   end)

   it("raises f's error, and the stream remains usable", function()
      local x, thrown = torch.CudaTensor(3):fill(1), {}
      local ok, got = pcall(function() return cutorch.graph(function()
         x:add(1)
         error(thrown)
      end)() end)
      assert.is_false(ok)
      assert.equal(thrown, got)
      assert.equal(6, x:fill(2):sum())
      assert.is_false(cutorch.isCapturing())
   end)

   it("rejects a replay after a change of an optimizer's setting", function()
      local settings = {
         sgd = {learningRate = 0.1, learningRateDecay = 0, weightDecay = 0.01, momentum = 0.5,
            dampening = 0.1},
         nag = {learningRate = 0.1, learningRateDecay = 0, weightDecay = 0.01, momentum = 0.5},
         adagrad = {learningRate = 0.1, learningRateDecay = 0, weightDecay = 0.01},
         adadelta = {rho = 0.9, eps = 1e-6, weightDecay = 0.01},
         rmsprop = {learningRate = 0.1, alpha = 0.9, epsilon = 1e-6, weightDecay = 0.01},
      }
      for _, of in ipairs(both.andReduced 'Float') do
         local kind = 'torch.' .. elements.onDevice(of) .. 'Tensor'
         for name, list in pairs(settings) do
            for key, value in pairs(list) do
               local config, state, x = {}, {}, torch.ones(4):type(kind)
               for k, v in pairs(list) do config[k] = v end
               local dx = torch.ones(4):type(kind)
               local function step()
                  optim[name](function() return 0, dx:fill(1) end, x, config, state)
               end
               step()
               local g = cutorch.graph(step)
               g()
               config[key] = value / 2 + (value == 0 and 1 or 0)
               local before, same = x:clone(), x:clone()
               optim[name](function() return 0, dx:fill(1) end, same, config, state)
               local ok, text = pcall(g)
               if graphs then
                  assert.is_false(ok, name .. ' ' .. key)
                  assert.matches(("a graph: '%s' of optim.%s has changed since the capture: got "
                     .. '[%%d.e-]+, wanted [%%d.e-]+, which'):format(key, name), text)
                  bits(before, x)
                  config[key] = value
                  g()
               end
               assert.is_false(before:equal(x), name .. ' ' .. key)
            end
         end
      end
   end)

   for _, name in ipairs{'sgd', 'rmsprop'} do -- with and without a kernel that writes the copy
      it(('replays steps of nn.MixedPrecision: optim.%s'):format(name), function()
         for _, isScaled in ipairs{false, name == 'sgd'} do
            local function mixed()
               torch.manualSeed(2)
               local net = nn.MixedPrecision(nn.Sequential():add(nn.Linear(7, 5))
                  :add(nn.LayerNorm(5)):cuda(), 'half')
               local x, dx = net:getParameters()
               local input = torch.CudaTensor(3, 7):uniform()
               local scaler = isScaled and optim.LossScaler{scale = 8, every = 2} or nil
               local config = {learningRate = 0.1, scaler = scaler}
               local one = {net = net, x = x, input = input}
               function one.step()
                  optim[name](function()
                     net:zeroGradParameters()
                     local output = net:forward(input)
                     net:backward(input, scaler and scaler:scale(output) or output)
                     return 0, dx
                  end, x, config)
               end
               return one
            end
            local eager, captured = mixed(), mixed()
            for _ = 1, 2 do
               eager.step()
               captured.step()
            end
            local replay = cutorch.graph(captured.step)
            for i = 1, 6 do
               for _, one in ipairs{eager, captured} do
                  if i == 3 then one.x:mul(1.5) end
                  if i == 4 then one.net:workingParameters()[1]:mul(0.5) end
                  one.input:fill(i == 5 and isScaled and 1 / 0 or i)
               end
               if i % 2 == 0 then
                  bits(eager.net:forward(eager.input), captured.net:forward(captured.input))
               end
               eager.step()
               replay()
               bits(eager.x, captured.x)
               for k, t in ipairs(eager.net:workingParameters()) do
                  bits(t, captured.net:workingParameters()[k])
               end
            end
         end
      end)
   end

   it("rejects a replay after a change of a module's number", function()
      local function changes(make, field, value, part)
         local net, x = make():cuda(), torch.CudaTensor(4, 6):uniform(0.5, 1)
         local function step()
            net:forward(x)
            net:backward(x, x)
         end
         step()
         local g = cutorch.graph(step)
         g()
         local owner = part and part(net) or net
         local before = owner[field]
         owner[field] = value
         local ok, text = pcall(g)
         assert.equal(not graphs, ok, field)
         if ok then return end
         local wanted = ("a graph: '%s' of %s has changed since the capture: got %s, wanted %s,")
            :format(field, torch.type(owner), value, before)
         assert.truthy(text:find(wanted, 1, true), text)
         owner[field] = before
         g()
      end
      local function first(net) return net:get(1) end
      changes(function() return nn.Sequential():add(nn.Dropout(0.5)) end, 'p', 0.25, first)
      changes(function() return nn.BatchNormalization(6) end, 'momentum', 0.5)
      changes(function() return nn.BatchNormalization(6) end, 'eps', 0.5)
      changes(function() return nn.GradientReversal(1) end, 'lambda', 2)
      changes(function() return nn.MulConstant(2) end, 'constant_scalar', 3)
      changes(function() return nn.WhiteNoise(0, 1) end, 'std', 2)
      changes(function() return nn.ELU(1) end, 'alpha', 2)
      changes(function() return nn.Clamp(-1, 1) end, 'max_val', 2)

      for _, class in ipairs{'MultiCriterion', 'ParallelCriterion'} do
         local x = torch.CudaTensor(2, 3):fill(1)
         local criterion = nn[class](true):add(nn.MSECriterion()):add(nn.AbsCriterion(), 0.5):cuda()
         local input = class == 'MultiCriterion' and x or {x, x}
         local g = cutorch.graph(function() criterion:backward(input, x) end)
         g()
         criterion.weights[2] = 3
         local ok, text = pcall(g)
         assert.equal(not graphs, ok)
         if graphs then
            assert.matches("'2' of weights of nn." .. class .. ' has .* got 3, wanted 0.5', text)
         end
      end
   end)

   if not graphs then return end

   it('keeps freed memory until the graph is collected', function()
      collectgarbage()
      collectgarbage()
      local x = torch.CudaTensor(1000):fill(1)
      local y
      local g = cutorch.graph(function()
         local twice = x:clone():mul(2) -- freed when f returns
         y = twice:clone()
         twice = nil -- luacheck: ignore
         collectgarbage()
         collectgarbage()
         y:add(1)
      end)
      local others = {}
      for i = 1, 50 do others[i] = torch.CudaTensor(1000):fill(-1) end
      g()
      assert.equal(3000, y:sum())
      for i = 1, 50 do assert.equal(-1000, others[i]:sum()) end
      y:resize(5000):fill(7) -- the graph keeps y's old memory
      local more = torch.CudaTensor(1000):fill(-1)
      g()
      assert.equal(-1000, more:sum())
      assert.equal(35000, y:sum())
      local live = cutorch.memoryStats(1).live
      g = nil -- luacheck: ignore
      collectgarbage()
      collectgarbage()
      cutorch.synchronize()
      cutorch.emptyCache()
      assert.is_true(cutorch.memoryStats(1).live <= live - 8000) -- two tensors of 1000 floats
   end)

   it('rejects calls that cannot be replayed, by name #devices2', function()
      local x, host = torch.CudaTensor(4, 4):fill(1), torch.FloatTensor(4, 4):fill(3)
      local other = cutorch.withDevice(2, function() return torch.CudaTensor(4, 4):fill(1) end)
      local function rejected(f, ...)
         local ok, text = pcall(cutorch.graph, f)
         assert.is_false(ok)
         for _, pattern in ipairs{...} do assert.matches(pattern, text) end
         assert.is_false(cutorch.isCapturing())
         assert.equal(16, x:sum())
      end
      rejected(function() return x:sum() end, ': it waits')
      rejected(function() return x[1][1] end, 'waits')
      rejected(function() cutorch.synchronize() end, 'synchronize: it waits')
      rejected(function() x:copy(host) end, 'copy: it reads ordinary host memory')
      rejected(function() host:copy(x) end, 'copy: it waits')
      rejected(function() return x:float() end, 'waits')
      rejected(function() other:add(1) end, 'add: it needs stream 0 of device 2', 'of device 1')
      rejected(function() other:copy(x) end, 'device 2')
      local pass = random.passes(1, {0, 2, 4}, 2)[2]
      rejected(function()
         random.within(pass, x.uniform, x)
      end, 'uniform: it draws what goes by the replica')
      rejected(function() x:randperm(4) end, 'randperm: it draws on the host')
      rejected(function() cutorch.graph(function() end) end, 'it captures')
      local p = problem()
      rejected(p.step, 'optim.sgd: it takes its first step')
      p.step()
      p.config.learningRateDecay = 0.1
      rejected(p.step, 'optim.sgd: it changes the rate')
      p.config.learningRateDecay, p.config.scaler = nil, optim.LossScaler()
      rejected(p.step, 'optim.sgd: it takes its first step') -- with a scaler
      rejected(function() return p.config.scaler:scale(x) end, 'its scale is in host memory')
      local function asgd()
         return optim.asgd(function() return 0, p.dx end, p.x, {scaler = optim.LossScaler()})
      end
      rejected(asgd, 'optim.asgd: its loss scaler waits')
      local halves, scaler = torch.CudaHalfTensor(4):fill(1), optim.LossScaler()
      local function adamax()
         optim.adamax(function() return 0, halves:clone() end, halves, {scaler = scaler})
      end
      adamax()
      rejected(adamax, 'optim.adamax: its loss scaler waits')
      local p2 = problem()
      rejected(function() optim.adam(function() return 0, p2.dx end, p2.x) end, 'counts its steps')
      local g = cutorch.graph(function() x:add(0) end)
      rejected(function() g() end, 'a graph: it is replayed')
   end)

   it('rejects a step that allocates its state', function()
      if not graphs then return end
      local hasScaler = C.dpt_step_copies(torch.CudaTensor(1)) ~= 0
      for _, scaler in ipairs(hasScaler and {false, optim.LossScaler()} or {false}) do
         local x, state = torch.CudaTensor(4):fill(1), {}
         local config = {scaler = scaler or nil}
         local function stepOf(name)
            return function()
               optim[name](function() return 0, x:clone() end, x, config, state)
            end
         end
         stepOf 'sgd' ()
         config.momentum = 0.9
         for _, name in ipairs(scaler and {'sgd', 'adam'} or {'sgd'}) do
            local ok, text = pcall(cutorch.graph, stepOf(name))
            assert.is_false(ok)
            assert.matches(('optim.%s: it allocates its state'):format(name), text)
         end
      end
   end)

   it('queues nothing of a rejected call', function()
      local effects = C.dpt_effects()
      local x, y = torch.CudaTensor(4):fill(1), torch.CudaTensor(4):fill(1)
      local half = torch.CudaHalfTensor(4):fill(1) -- halves are copied for the kernel
      local other = torch.CudaHalfTensor(4):fill(1)
      local locked, host = cutorch.createCudaHostTensor(4):fill(7), torch.FloatTensor(4):fill(7)
      local mask = torch.CudaByteTensor(4):fill(1)
      local rejected = {
         {function() return x[1] end, 'waits'},
         {function() return x:sum() end, 'sum: it waits'},
         {function() return x:dot(y) end, 'dot: it waits'},
         {function() return x:equal(y) end, 'equal: it waits'},
         {function() return x:maskedSelect(mask) end, 'maskedSelect: it waits'},
         {function() return x:float() end, 'waits'},
         {function() host:copy(x) end, 'waits'},
         {function() locked:copy(x) end, 'waits'},
         {function() x:copy(host) end, 'reads ordinary host memory'},
         {function() x:randperm(4) end, 'draws on the host'},
         {function()
            lib.adam_step(x, y, x:clone(), x:clone(), nil, nil, 1, 0, 0, 0, 1)
         end, 'counts', 2},
         {function()
            lib.adam_step(half, other, half, other, nil, nil, 1, 0, 0, 0, 1)
         end, 'counts'},
         {function()
            lib.adam_mixed(x, y, x:clone(), x:clone(), nil, nil, nil, 1, 0, 0, 0, 1, 0, 0, half,
               nil, nil, 0)
         end, 'counts', 2},
      }
      for i, case in ipairs(rejected) do
         local g = cutorch.graph(function()
            local before = effects[0]
            local ok, text = pcall(case[1])
            assert.is_false(ok)
            assert.matches(case[2], text)
            assert.equal(case[3] or 0, effects[0] - before, i) -- apart from clones of arguments
            x:add(1)
         end)
         x:fill(0)
         g()
         g()
         assert.equal(8, x:sum())
      end
      assert.same({28, 28}, {host:sum(), locked:sum()}) -- replays do not write to host memory
   end)

   it('copies from page-locked memory in each replay', function()
      local host, x = cutorch.createCudaHostTensor(3):fill(1), torch.CudaTensor(3)
      local back = cutorch.createCudaHostTensor(3)
      local g = cutorch.graph(function()
         x:copyAsync(host)
         x:mul(2)
         back:copyAsync(x)
      end)
      for i = 1, 3 do
         host:fill(i)
         g()
         cutorch.synchronize()
         assert.equal(6 * i, back:sum())
      end
   end)

   it('allows other threads on other streams but not on this one #notsan #devices2', function()
      local text = run.lua [[
         local dpt = require 'dpt'
         local threads = require 'threads'
         local x = torch.CudaTensor(10):fill(1)
         local pool = threads.Threads(1, function() require 'dpt' end)
         local function other(device)
            local ok, text = true
            pool:addjob(function()
               local before = cutorch.memoryStats(device).live
               local result = {pcall(function()
                  cutorch.setDevice(device)
                  return torch.CudaTensor(3):fill(2):sum()
               end)}
               collectgarbage()
               collectgarbage()
               -- a graph of another thread holds none of what this one used
               if cutorch.memoryStats(device).live ~= before then return false, 'held' end
               return unpack(result)
            end, function(...) ok, text = ... end)
            pool:synchronize()
            print(ok, text)
         end
         local g = cutorch.graph(function()
            x:add(1)
            other(2)
            other(1)
         end)
         g()
         g()
         other(1)
         print(x:sum())
      ]]
      local lines = '^true\t6\nfalse\t[^\n]*captured by another thread[^\n]*\ntrue\t6\n30\n$'
      assert.matches(lines, text)
   end)

   it('outlives its last replay by as much as the device needs', function()
      for _ = 1, 20 do
         local x = torch.CudaTensor(100000):fill(1)
         local g = cutorch.graph(function() x:add(x:clone()) end)
         g()
         g, x = nil, nil -- luacheck: ignore
         collectgarbage()
      end
      cutorch.synchronize()
      assert.is_true(ffi.sizeof('void *') == 8)
   end)
end)
