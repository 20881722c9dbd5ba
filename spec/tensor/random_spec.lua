-- Draws with given probabilities, by generators of the host and of devices.
local torch = require('dpt').torch
local core = require 'dpt.tensor.core'
local cutorch = require('dpt').cutorch
local elements = require 'spec.support.elements'
local P = {0.2, 0.3, 0.05, 0.45}

--- Returns the frequency of each of n numbers, as a fraction.
local function shares(drawn, n)
   local counts = torch.DoubleTensor(n):zero()
   for _, i in ipairs(drawn:view(-1):totable()) do counts[i] = counts[i] + 1 end
   return counts:div(drawn:nElement())
end

describe('Draws', function()
   for number, typename in pairs(core.realNames) do
      local kind, onDevice = core.names[number], number >= core.ON_DEVICE
      local Long = torch[onDevice and 'CudaLongTensor' or 'LongTensor']

      it('follow the probabilities of a ' .. typename, function()
         torch.manualSeed(5)
         local p = torch[kind .. 'Tensor'](P)
         local drawn = torch.multinomial(p, 20000, true)
         assert.equal(torch.type(Long()), torch.type(drawn))
         assert.is_true((shares(drawn, 4) - torch.DoubleTensor(P)):abs():max() < 0.02)
         local state = torch.multinomialAliasSetup(p)
         assert.same({Long(4):type(), p:type()}, {state[1]:type(), state[2]:type()})
         local r = Long(20000)
         for _ = 1, 2 do -- drawing does not change the tables
            assert.equal(r, torch.multinomialAlias(r, state))
            assert.is_true((shares(r, 4) - torch.DoubleTensor(P)):abs():max() < 0.02)
         end
      end)

      it('have tables of the right ranges and types: ' .. kind, function()
         local from = onDevice and 0 or 1
         local state = torch.multinomialAliasSetup(torch[kind .. 'Tensor']{4, 2, 3, 0, 1})
         assert.same({from, from + 2}, {state[1]:min(), state[1]:max()})
         assert.equal(state, torch.multinomialAliasSetup(torch[kind .. 'Tensor']{1, 0, 0, 0, 6},
            state))
         assert.same({from + 4, from + 4}, {state[1]:min(), state[1]:max()})
         local r = Long(7, 30):t()
         torch.multinomialAlias(r, state)
         assert.equal(210, r:eq(1):sum() + r:eq(5):sum())
      end)
   end

   it('reject tables and probabilities that are none', function()
      local state = torch.multinomialAliasSetup(torch.Tensor(P))
      state[1][2] = 5
      assert.has_error(function() torch.multinomialAlias(torch.LongTensor(2), state) end,
         'multinomialAlias: J[2] is 5, wanted 1 to 4')
      assert.has_error(function() torch.multinomialAliasSetup(torch.Tensor{1, -1}) end,
         'multinomialAliasSetup: a probability is -1, wanted a number of 0 or more')
      assert.has_error(function() torch.multinomialAliasSetup(torch.Tensor{0, 0}) end,
         'multinomialAliasSetup: the probabilities sum up to 0')
   end)

   it('normal ones are the same for floats and doubles, as are the following draws', function()
      for _, n in ipairs{1, 2, 3, 511, 512, 513, 20001} do
         local state = {}
         local function draw(kind)
            torch.manualSeed(n)
            local x = torch[kind](n):normal(2, 3)
            state[#state + 1] = torch.getRNGState()
            return x:float(), torch.normal()
         end
         local floats, next = draw 'FloatTensor'
         local doubles, same = draw 'DoubleTensor'
         assert.equal(same, next)
         assert.is_true(state[1]:equal(state[2]))
         assert.is_true((floats - doubles):abs():max() < 1e-6) -- one in many millions may differ
      end
   end)

   it('of trials have the mean of Torch7 on the host and of cutorch on devices', function()
      local fractions = {DoubleTensor = 0.2, CudaTensor = 0.8}
      for _, name in ipairs(elements.reduced) do fractions['Cuda' .. name .. 'Tensor'] = 0.8 end
      for kind, p in pairs(fractions) do
         torch.manualSeed(4)
         local x = torch[kind](200, 200):geometric(p):double()
         assert.is_true(math.abs(x:mean() - 1.25) < 0.02, kind)
         assert.equal(1, x:min())
      end
      assert.error_matches(function() torch.CudaTensor(2):geometric(1.5) end, 'p is 1.5, wanted')
      local g = torch.Generator() -- a generator draws as the device would
      torch.manualSeed(g, 4)
      assert.is_true(math.abs(torch.CudaTensor(20000):geometric(g, 0.8):mean() - 1.25) < 0.02)
   end)

   it('with a seed are the same on every device #devices2', function()
      local function draw(device)
         return cutorch.withDevice(device, function()
            cutorch.manualSeed(3)
            local state = torch.multinomialAliasSetup(torch.CudaTensor(P))
            return torch.multinomialAlias(torch.CudaLongTensor(9), state):totable()
         end)
      end
      assert.same(draw(1), draw(2))
   end)
end)
