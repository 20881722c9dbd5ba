-- dpt.rnn.packing: removes the padding between sequences, and restores it.
local dpt = require 'dpt'
local torch = dpt.torch
local packing = require 'dpt.rnn.packing'

describe('dpt.rnn.packing', function()
   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
      it('packs padded sequences by steps and pads them again, ' .. typename, function()
         local x = torch.range(1, 24):resize(4, 3, 2):type(typename)
         local lengths = {4, 2, 1}
         local packed = packing.packPadded(x, lengths, false, 'spec')
         assert.same({3, 2, 1, 1}, packed[2])
         assert.same({{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {13, 14}, {19, 20}},
            packed[1]:double():totable())
         local padded, back = packing.padPacked(packed, false, 'spec')
         assert.same(lengths, back)
         assert.equal(padded:sum(), packed[1]:sum()) -- zero after the ends
         assert.equal(0, padded[3][2]:abs():max())
         assert.same(x[1]:totable(), padded[1]:totable())
         local first = packing.packPadded(x:transpose(1, 2), lengths, true, 'spec')
         assert.equal(0, (first[1] - packed[1]):abs():max())
         assert.same({3, 4, 2}, (packing.padPacked(packed, true, 'spec')):size():totable())
         assert.is_false(packed[1]:storage() == x:storage())
      end)
   end

   it('converts lengths to batch sizes and back', function()
      assert.same({3, 2, 2}, packing.sizes({3, 3, 1}, 'spec'))
      assert.same({3, 3, 1}, packing.lengths({3, 2, 2}, 'spec'))
      assert.same({2, 5}, packing.list(torch.CudaLongTensor{2, 5}))
      local list = {1}
      assert.equal(list, packing.list(list))
   end)

   it('rejects lengths and batch sizes that no sequences have', function()
      for _, case in ipairs{
         {'there are 1 lengths for 2 sequences', packing.check, {3}, 3, 2, 'spec'},
         {'length 2 is 4, wanted 1 to 3', packing.check, {3, 4}, 3, 2, 'spec'},
         {'length 1 is 1.5', packing.check, {1.5}, 3, 1, 'spec'},
         {'length 2 is nan', packing.check, packing.list(torch.Tensor{1, 0 / 0}), 3, 2, 'spec'},
         {'sequence 2 has 3 steps and the one before it 2', packing.sizes, {2, 3}, 'spec'},
         {'step 2 of the packed sequences has 3', packing.lengths, {2, 3}, 'spec'},
         {'the packed sequences have no step', packing.lengths, {}, 'spec'},
      } do
         assert.error_matches(function() case[2](unpack(case, 3)) end, 'spec: .*' .. case[1])
      end
   end)
end)
