-- dpt.masters: floats and their 16-bit copy.
local torch, cutorch = require 'torch', require 'cutorch'
local Masters = require 'dpt.masters'

describe('dpt.masters', function()
   for _, types in ipairs{{'torch.FloatTensor', 'torch.HalfTensor'},
      {'torch.CudaTensor', 'torch.CudaBFloat16Tensor'}} do
      local float, reduced = unpack(types)
      local function masters()
         return Masters.new(torch.range(1, 6):type(float), reduced, torch.LongTensor{5, 6})
      end

      it('copies what is written to either side, ' .. reduced, function()
         local m = masters()
         assert.same({1, 2, 3, 4, 5, 6}, m.copy:float():totable())
         assert.same({5, 6}, m.kept:totable())
         m.flat:add(0.5)
         m:refresh()
         assert.same({1.5, 2.5, 3.5, 4.5, 5.5, 6.5}, m.copy:float():totable())
         assert.same({5.5, 6.5}, m.kept:totable())
         m.flat[1] = 1 + 2^-13
         m:refresh()
         assert.equal(1, m.copy[1])
         m.copy[2] = 7
         m:refresh()
         assert.same({1 + 2^-13, 7, 3.5, 4.5, 5.5, 6.5}, m.flat:totable())
         m.kept[2] = 1 / 3
         m:refresh()
         assert.near(1 / 3, m.flat[6], 1e-7)
         m.copy[3], m.kept[1] = 0.5, 0.25
         m:refresh()
         assert.same({7, 0.5, 4.5, 0.25}, m.flat:narrow(1, 2, 4):totable())
         m.copy[3] = 0 / 0
         m:refresh()
         assert.is_true(m.flat[3] ~= m.flat[3])
      end)

      it('finds the copy of a part of the floats, ' .. reduced, function()
         local m = masters()
         local found, copy = Masters.copyOf(m.flat)
         assert.equal(m, found)
         assert.same({1, 2, 3, 4, 5, 6}, copy:float():totable())
         assert.same({2, 3}, select(2, Masters.copyOf(m.flat:narrow(1, 2, 2))):float():totable())
         assert.is_nil(Masters.copyOf(torch.FloatTensor(4)))
         assert.is_nil(Masters.copyOf(m.copy))
         assert.is_nil(Masters.copyOf(torch.FloatTensor()))
      end)

      it('does not convert again what an optimizer has written to both, ' .. reduced, function()
         local m = masters()
         local _, copy = Masters.copyOf(m.flat)
         m.flat:fill(2)
         copy:fill(9) -- shows that nothing overwrites it
         m:updated(copy)
         m:refresh()
         assert.same({9, 9, 9, 9, 9, 9}, m.copy:float():totable())
         assert.same({2, 2}, m.kept:totable())
         _, copy = Masters.copyOf(m.flat:narrow(1, 1, 2))
         m.flat:fill(3)
         copy:fill(8)
         m:updated(copy)
         m:refresh() -- a part was written: everything is converted
         assert.same({3, 3, 3, 3, 3, 3}, m.copy:float():totable())
      end)
   end

   it('keeps networks apart whose floats are in one storage', function()
      local all = torch.range(1, 4):float()
      local a = Masters.new(all:narrow(1, 1, 2), 'torch.HalfTensor', torch.LongTensor())
      local b = Masters.new(all:narrow(1, 3, 2), 'torch.HalfTensor', torch.LongTensor())
      assert.equal(a, (Masters.copyOf(a.flat)))
      assert.equal(b, (Masters.copyOf(b.flat)))
      assert.is_nil(Masters.copyOf(all))
      a.copy[1], b.copy[2] = 7, 8
      Masters.follow(all)
      assert.same({7, 2, 3, 8}, all:totable())
      local _, copy = Masters.copyOf(b.flat)
      a.copy[2] = 5
      b.flat:fill(2)
      copy:fill(9) -- shows that nothing overwrites it
      b:updated(copy)
      a:refresh() -- b has changed, but not a: no conflict
      b:refresh()
      assert.same({7, 5, 2, 2}, all:totable())
      assert.same({9, 9}, b.copy:float():totable())
   end)

   it('finds the latest of several that have the same floats', function()
      local flat = torch.FloatTensor{1, 2}
      local first = Masters.new(flat, 'torch.HalfTensor', torch.LongTensor())
      local second = Masters.new(flat, 'torch.BFloat16Tensor', torch.LongTensor())
      assert.equal(second, (Masters.copyOf(flat)))
      first.copy[1] = 5
      first:refresh()
      second:refresh()
      assert.same({5, 2}, second.copy:float():totable())
   end)

   it('converts the floats again after queued work has failed', function()
      local m = Masters.new(torch.CudaTensor{1, 2}, 'torch.CudaHalfTensor', torch.LongTensor())
      torch.CudaTensor{1}:index(1, torch.CudaLongTensor{7}) -- fails when it runs
      assert.is_false(pcall(cutorch.synchronize))
      m.copy[1] = 5
      m:refresh()
      assert.same({1, 2}, m.copy:float():totable())
   end)
end)
