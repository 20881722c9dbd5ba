-- Random numbers of device tensors: equal on all kinds of devices. The numbers below were recorded
-- on a host device.
local torch = require 'dpt.tensor'
local cutorch = require('dpt').cutorch

--- Drawn with seed 42: distribution, arguments, elements 1 to 4 and 70001 of a double tensor, and
-- the sum if all are integers. Floats are the same numbers with fewer bits.
local drawn = {
   {'random', {1, 100}, {44, 4, 14, 82, 54}, 3522220},
   {'random', {-5, 4e12},
    {2055735606426, 1170222310920, 2000229182674, 2914837889514, 2853839203403}},
   {'uniform', {-1, 3}, {1.4518395247576632, 2.950874603658042, 2.3034673087841973,
    1.9183970593573894, 2.4906172687256656}},
   {'normal', {1, 2}, {0.4083428290383212, 3.3951062014041522, 2.2469379609304516,
    0.66027627446542869, 3.3300712395266929}},
   {'exponential', {0.5}, {1.8984538502962038, 8.7993470038309383, 3.4958698231293814,
    2.6157004320552559, 4.121699956520402}},
   {'cauchy', {1, 2}, {1.7411234939632267, 52.810581700261785, 4.2837424427008548,
    2.7587672144326381, 5.7295447134730573}},
   {'logNormal', {1, 2}, {1.5043227983156393, 29.817820001143211, 9.4587284520826547,
    1.9353269419657431, 27.940332088372234}},
   {'geometric', {0.7}, {1, 4, 2, 2, 2}, 100144},
   {'bernoulli', {0.4}, {0, 0, 0, 0, 0}, 27984},
}

describe('Random numbers of a device #recorded', function()
   it('are those that were recorded', function()
      for _, case in ipairs(drawn) do
         local name, arguments, want, sum = unpack(case)
         local exact = sum or name == 'random' or name == 'uniform'
         cutorch.manualSeed(42)
         local x = torch.CudaDoubleTensor(70001)
         x[name](x, unpack(arguments))
         for i, value in ipairs(want) do
            local off = math.abs(x[i < 5 and i or 70001] - value)
            assert.is_true(off <= (exact and 0 or 1e-14 * math.abs(value)), name)
         end
         cutorch.manualSeed(42)
         local y = torch.CudaTensor(70001)
         y[name](y, unpack(arguments))
         if sum then
            assert.equal(sum, x:double():sum())
            assert.equal(sum, y:double():sum())
         end
         -- 24 random bits instead of 53: near the middle of a distribution, this many digits agree
         for i = 1, 4 do assert.is_true(math.abs(x[i] - y[i]) <= 1e-5 * math.abs(x[i]), name) end
      end
      cutorch.manualSeed(42)
      local bits = torch.CudaTensor(4):uniform(-1, 3)
      assert.same({1.4518394470214844, 2.9508745670318604, 2.3034672737121582, 1.9183969497680664},
         bits:totable())
   end)

   it('are the same for every type and view', function()
      local sums = {
         Byte = {11471570, 149}, Char = {5719506, 21}, Short = {1476105426, 28821},
         Int = {96638248391890, 2097311893}, Long = {192729551705298, 4244795541},
         Half = {92048163, 1083}, BFloat16 = {11520016, 43},
      }
      for kind, want in pairs(sums) do
         cutorch.manualSeed(7)
         local x = torch['Cuda' .. kind .. 'Tensor'](300, 300):t()
         assert.equal(want[1], x:random():double():sum(), kind)
         assert.equal(want[2], x:double()[5][9], kind)
         assert.equal(112545, x:geometric(0.8):double():sum(), kind)
         local given = torch.CudaTensor(300, 1):fill(0.25):expand(300, 300)
         assert.equal(22519, x:bernoulli(given):double():sum(), kind)
      end
   end)

   it('are the same at any address, and no other memory changes', function()
      for _, case in ipairs(drawn) do
         local name, arguments = unpack(case)
         local function draw(x)
            cutorch.manualSeed(11)
            x[name](x, unpack(arguments))
            return x
         end
         local want = draw(torch.CudaTensor(9))
         for n = 1, 9 do
            for offset = 0, 4 do
               local all = torch.CudaTensor(16):fill(-7)
               assert.same(want:narrow(1, 1, n):totable(),
                  draw(all:narrow(1, 1 + offset, n)):totable(), name)
               if offset > 0 then assert.equal(offset, all:narrow(1, 1, offset):eq(-7):sum()) end
               assert.equal(15 - n - offset, all:narrow(1, n + offset + 1, 15 - n - offset)
                  :eq(-7):sum())
            end
         end
         local apart = torch.CudaTensor(9, 2):select(2, 1)
         assert.same(want:totable(), draw(apart):totable(), name)
      end
   end)

   it('are drawn in order if elements overlap', function()
      cutorch.manualSeed(3)
      local all = torch.CudaTensor(9000):uniform()
      cutorch.manualSeed(3)
      local one = torch.CudaTensor(1):expand(9000):uniform()
      assert.equal(all[9000], one[1])
   end)
end)
