-- dpt.file: Torch7's files, both ways; hostile ones give sentences.
local dpt = require 'dpt'
local torch = dpt.torch
local function trip(value, mode) return torch.deserialize(torch.serialize(value, mode), mode) end

local TYPES = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double', 'Cuda',
   'CudaByte', 'CudaLong', 'CudaHalf', 'CudaDouble'}

describe('files', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   for _, mode in ipairs{'binary', 'ascii'} do
      it('keep tensors of every type, views and sharing: ' .. mode, function()
         for _, name in ipairs(TYPES) do
            local x = torch.range(1, 12):resize(3, 4):type('torch.' .. name .. 'Tensor')
            local u = trip({x, x:t(), x:narrow(2, 2, 2), x, x:storage()}, mode)
            assert.equal('torch.' .. name .. 'Tensor', torch.type(u[1]))
            assert.equal(u[1], u[4])
            assert.equal(0, (u[2]:double() - x:t():double()):abs():max())
            u[5]:fill(3)
            assert.equal(12 * 3, u[2]:double():sum())
            assert.equal(6 * 3, u[3]:double():sum())
         end
      end)
      it('keep values, cycles and long integers: ' .. mode, function()
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

   it('write and read numbers as scalars, tables and storages', function()
      for _, mode in ipairs{'binary', 'ascii'} do
         for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'} do
            local f = torch.MemoryFile()
            f[mode](f)
            f['write' .. name](f, 7)
            assert.equal(2, f['write' .. name](f, {65, 66}))
            f['write' .. name](f, torch[name .. 'Storage']{67})
            f:seek(1)
            assert.equal(7, f['read' .. name](f))
            assert.same({65, 66}, f['read' .. name](f, 2):totable())
            local s = torch[name .. 'Storage'](1)
            assert.equal(1, f['read' .. name](f, s))
            assert.equal(67, s[1])
         end
      end
   end)

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
      -- Torch7's state right after a seed: every word to come, none given
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

   it('hold one replica of nn.DataParallelTable', function()
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
end)
