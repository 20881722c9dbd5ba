-- dpt.parallel.ranks.hash: values with equal and different hashes.
local dpt = require 'dpt'
local torch = dpt.torch
local core = require 'dpt.tensor.core'
local hash = require 'dpt.parallel.ranks.hash'

describe('dpt.parallel.ranks.hash', function()
   local function of(...)
      local h = hash.start
      for i = 1, select('#', ...) do h = hash.add(h, (select(i, ...))) end
      return hash.number(h)
   end

   it('is the same number in other processes', function()
      assert.equal(of(torch.FloatTensor{1, 2, 3}), of(torch.FloatTensor{1, 2, 3}))
      assert.equal(7885684964601614, of(torch.FloatTensor{1, 2, 3}, 'adam', 0.5, true))
      assert.is_true(of(torch.randn(9)) < 2 ^ 53)
   end)

   it('differs if any bit of a tensor does', function()
      local seen, count = {}, 0
      local function note(h)
         assert.is_nil(seen[h])
         seen[h], count = true, count + 1
      end
      for n = 1, 17 do
         local bytes = torch.ByteTensor(n):zero()
         note(of(bytes))
         for i = 1, n do
            for bit = 0, 7 do
               bytes[i] = 2 ^ bit
               note(of(bytes))
            end
            bytes[i] = 0
         end
      end
      assert.equal(17 + 8 * 17 * 18 / 2, count)
   end)

   it('differs if all signs, the order, or the sizes do', function()
      for _, kind in pairs(core.realNames) do
         local t = torch.range(1, 8):type(kind)
         local other = t:clone()
         for i = 1, 8 do other[i] = -t[i] end
         assert.not_equal(of(t), of(other))
         assert.not_equal(of(t), of(t:index(1, torch.LongTensor{2, 1, 3, 4, 5, 6, 7, 8})))
         assert.not_equal(of(t), of(t:view(2, 4)))
         assert.not_equal(of(t:view(4, 2)), of(t:view(2, 4)))
      end
      assert.not_equal(of(torch.Tensor{1}, torch.Tensor()), of(torch.Tensor(), torch.Tensor{1}))
   end)

   it('depends on the elements, not on their memory', function()
      local t = torch.randn(7, 5):float()
      assert.equal(of(t:t():contiguous()), of(t:t()))
      if dpt.cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local large = torch.FloatTensor(2 ^ 20 + 3):uniform() -- larger than a chunk
      for _, one in ipairs{t, large, torch.FloatTensor()} do
         assert.equal(of(one), of(one:cuda()))
      end
      assert.equal(of(t:t()), of(t:cuda():t()))
   end)

   it('differs if a number, a string or a boolean does', function()
      assert.not_equal(of(0.1), of(0.1 + 2 ^ -56))
      assert.not_equal(of 'ab', of 'ba')
      assert.not_equal(of('a', 'b'), of 'ab')
      assert.not_equal(of(true), of(false))
      assert.equal(of(0 / 0), of(0 / 0))
   end)
end)
