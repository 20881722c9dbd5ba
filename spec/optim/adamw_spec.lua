-- optim.adamw: Adam with decoupled weight decay, against its formula and values of PyTorch.
local copy = require 'dpt.clone'
local descent = require 'spec.support.descent'
local run = require 'spec.support.run'

descent.describe 'adamw'

-- Settings, and x after 100 steps of PyTorch's AdamW.
local recorded = {
   {{}, {0.7250065176553806, -0.52414507951530476, 0.97423865066861015, 0.024929059030595571}},
   {{learningRate = 0.03, beta1 = 0.8, beta2 = 0.95, epsilon = 1e-2, weightDecay = 0.2,
      amsgrad = true},
      {0.3386526142987788, -0.53725367381919542, 0.34021742761120605, 0.30021411322851244}},
   {{learningRate = 0.01, learningRates = torch.DoubleTensor{2, 2, 0.5, 0.5},
      weightDecays = torch.DoubleTensor{0, 0, 0.3, 0.3}},
      {0.49220175738119543, -0.86225453117033335, 0.75778500150799111, 0.11069640955034643}},
}

-- Returns x after 100 steps; the state is saved and loaded after 50.
local function steps(config)
   local x, b = torch.DoubleTensor{0.75, -0.5, 1, 0}, torch.DoubleTensor{0.5, -1, 0.25, 2}
   local c, state = torch.DoubleTensor{3, 4, 2, 5}, {}
   for t = 1, 100 do
      optim.adamw(function() return 0, (x - b):cmul(c):div(t) end, x, config, state)
      if t == 50 then state = torch.deserialize(torch.serialize(state)) end
   end
   return x
end

describe('optim.adamw', function()
   for i, case in ipairs(recorded) do
      it('has the values of PyTorch after 100 steps, with options ' .. i, function()
         local distance = descent.distance(torch.DoubleTensor(case[2]), steps(case[1]))
         assert.is_true(distance < 1e-12, tostring(distance))
      end)
   end

   it('leaves the gradient unchanged', function()
      for _, config in ipairs{{weightDecay = 0.5}, {weightDecays = torch.ones(3)}} do
         local x, g = torch.ones(3), torch.DoubleTensor{1, -2, 0}
         optim.adamw(function() return 0, g end, x, config)
         assert.same({1, -2, 0}, g:totable())
         assert.equal(1 - 1e-3 * (config.weightDecay or 1), x[3])
      end
   end)

   it('freezes parameters whose factor of the rate is 0', function()
      local x = torch.ones(2)
      optim.adamw(function() return 0, torch.ones(2) end, x,
         {weightDecay = 0.5, learningRates = torch.DoubleTensor{0, 1}})
      assert.equal(1, x[1])
      assert.is_true(x[2] < 1)
   end)

   it('and optim.adam divide by the largest v with amsgrad, which keeps a NaN', function()
      for _, name in ipairs{'adam', 'adamw'} do
         local x, state = torch.zeros(2), {}
         local config = {amsgrad = true, beta2 = 0.5}
         for _, g in ipairs{{4, 1}, {0, 0 / 0}, {0, 1}} do
            optim[name](function() return 0, torch.DoubleTensor(g) end, x, config, state)
         end
         assert.equal(8, state.vmax[1], name)
         assert.equal(2, state.v[1], name)
         assert.is_true(state.vmax[2] ~= state.vmax[2] and x[2] ~= x[2], name)
      end
   end)

   it('continues from a state that adam has left, and adam from one of adamw', function()
      local f, x = descent.problem()
      local state = {}
      optim.adam(f, x, {}, state)
      local y, other = x:clone(), copy(state)
      optim.adamw(f, x, {weightDecay = 0, epsilon = 0}, state)
      optim.adam(f, y, {epsilon = 0}, other)
      assert.is_true(descent.distance(x, y) < 1e-15)
      optim.adam(f, x, {}, state)
      assert.equal(3, state.t)
   end)

   it('rejects an amsgrad that is not a boolean', function()
      local f, x = descent.problem()
      for _, name in ipairs{'adam', 'adamw'} do
         descent.bad(('optim.%s: argument \'amsgrad\' is a string, wanted a boolean'):format(name),
            optim[name], f, x, {amsgrad = 'false'})
      end
   end)

   it('has the same bits on CPUs without AVX2, for every real type', function()
      local code = [[
         require 'dpt'
         for _, name in ipairs{'Float', 'Double', 'Half', 'BFloat16', 'Cuda', 'CudaHalf'} do
            local typename = 'torch.' .. name .. 'Tensor'
            local x = torch.range(1, 700):div(1024):type(typename)
            for _, config in ipairs{{}, {amsgrad = true, weightDecays = torch.ones(700),
               learningRates = torch.ones(700)}} do
               local g = torch.range(-350, 349):div(64):type(typename)
               for _ = 1, 2 do optim.adamw(function() return 0, g end, x, config) end
            end
            io.write(name, ' ', ('%.17g'):format(x:double():norm()), '\n')
         end
      ]]
      local out = run.lua(code, {DPT_ISA = 'sse2'})
      assert.equal(6, select(2, out:gsub(' [%d.]+\n', '')))
      assert.equal(run.lua(code), out)
   end)
end)
