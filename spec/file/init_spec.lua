-- dpt.file: torch.save, torch.load and torch.serialize restore values.
local dpt = require 'dpt'
local torch = dpt.torch
local function trip(value, mode) return torch.deserialize(torch.serialize(value, mode), mode) end

describe('torch.save and torch.load', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   for _, mode in ipairs{'binary', 'ascii'} do
      it('keep values, cycles and long integers in mode ' .. mode, function()
         local t = {1, -0.5, 'a\nb\0', true, false, [2.5] = {}, s = torch.LongStorage(1)}
         t.me = t
         local s = torch.LongStorage{9007199254740993LL, -9007199254740995LL}
         local u = trip({t, s}, mode)
         assert.equal(u[1], u[1].me)
         assert.equal('a\nb\0', u[1][3])
         assert.is_true(u[2]:data()[0] == 9007199254740993LL)
         assert.is_true(u[2]:data()[1] == -9007199254740995LL)
         assert.equal(1 / 0, trip(1 / 0, mode))
         local nan = trip(0 / 0, mode)
         assert.is_true(nan ~= nan)
      end)
   end

   it('keep generators, as Torch7 does', function()
      local g = torch.Generator()
      torch.manualSeed(g, 7)
      for _ = 1, 3 do torch.normal(g) end
      for _, mode in ipairs{'binary', 'ascii'} do
         local h = trip({g}, mode)[1]
         for _ = 1, 5 do assert.equal(torch.normal(g), torch.normal(h)) end
         for _ = 1, 700 do assert.equal(torch.random(g), torch.random(h)) end
         assert.equal(7, torch.initialSeed(h))
      end
      -- Torch7's state right after seeding: no word has been drawn
      torch.manualSeed(g, 123)
      local state = torch.getRNGState(g)
      assert.equal(5048, state:nElement())
      assert.same({123, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
         state:narrow(1, 1, 16):totable())
      state:narrow(1, 17, 8):zero()
      local first = torch.random(g)
      torch.setRNGState(g, state)
      assert.equal(first, torch.random(g))
      state:fill(255)
      assert.error_matches(function() torch.setRNGState(g, state) end, 'no state')
   end)

   it('keep one replica of nn.DataParallelTable', function()
      local nn, cutorch = dpt.nn, dpt.cutorch
      local gpus = cutorch.getDeviceCount() > 1 and {1, 2} or {1}
      local net = nn.DataParallelTable(1, true):add(nn.Linear(3, 2):cuda(), gpus)
      local x = torch.CudaTensor(4, 3):fill(1)
      local y = net:forward(x):double()
      torch.save(path, net)
      local other = torch.load(path)
      assert.same(gpus, other.gpuAssignments)
      assert.equal(1, #other.modules)
      assert.equal(0, (other:forward(x):double() - y):abs():max())
   end)


   it('reject modes, options and paths that are none', function()
      assert.error_matches(function() torch.save(path, 1, 'text') end,
         "torch.save: the mode is 'text', wanted 'binary', 'ascii', 'b32' or 'b64'")
      assert.error_matches(function() torch.save(7, 1) end, 'torch.save')
      assert.error_matches(function() torch.load(7) end, 'torch.load')
      torch.save(path, 1)
      assert.error_matches(function() torch.load(path, {mode = 'ascii'}) end,
         'torch.load: there is no option mode, wanted functions')
      assert.error_matches(function() torch.load(path, 'binary', 3) end, 'torch.load')
      assert.error_matches(function() torch.deserialize(7) end, 'torch.deserialize')
   end)
end)
