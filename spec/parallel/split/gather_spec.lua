-- dpt.parallel.split.gather: joins the replicas' outputs into one tensor or tree.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local gather = require 'dpt.parallel.split.gather'
local same = require 'spec.support.parallel'

describe('dpt.parallel.split.gather', function()
   local n = same.most(3)
   before_each(function() cutorch.setDevice(1) end)

   local function values(make)
      local list = {}
      for i = 1, n do list[i] = cutorch.withDevice(i, make, i) end
      return list
   end

   it("joins tensors along a dimension on one device, reusing the last result's memory", function()
      local list = values(function(i) return torch.CudaTensor(2, i):fill(i) end)
      local kept = gather(nil, list, n, 2, n, 'output')
      assert.same({2, n * (n + 1) / 2}, kept:size():totable())
      assert.equal(n, kept:getDevice())
      local again = gather(kept, list, n, 2, n, 'output')
      assert.is_true(again:storage() == kept:storage())
   end)

   it('joins trees of any form, and copies other values from the first', function()
      local list = values(function(i)
         return {torch.CudaTensor(1):fill(i), {x = torch.CudaTensor(2, 1):fill(i)}, 'word', 7}
      end)
      local kept = gather({gone = torch.CudaTensor(1)}, list, n, 1, 1, 'output')
      assert.is_nil(kept.gone)
      assert.same({'word', 7}, {kept[3], kept[4]})
      assert.equal(2 * n, kept[2].x:size(1))
      assert.equal(n * (n + 1) / 2, kept[1]:sum())
   end)

   it('sums replicated tensors, and keeps the lists that a function made', function()
      local list = values(function(i) return {torch.CudaTensor(2):fill(i), torch.CudaTensor(1)} end)
      local kept = gather(nil, list, n, 1, 1, 'gradInput', {'replicate', function() end})
      same.bits(torch.Tensor(2):fill(n * (n + 1) / 2), kept[1])
      assert.equal(n, #kept[2])
      assert.is_true(rawequal(list[n][2], kept[2][n]))
   end)

   it('empties the last result if no replica had rows', function()
      local kept = {torch.CudaTensor(3), x = 5}
      assert.equal(kept, gather(kept, {}, 0, 1, 1, 'output'))
      assert.equal(0, kept[1]:nElement())
      assert.equal(5, kept.x)
   end)

   it('raises with the path if the replicas disagree #devices2', function()
      for wanted, pair in pairs{
         ['output%[x%]: replica 1 returned 1, replica 2 returned 2'] = {{x = 1}, {x = 2}},
         ['output%[1%]: replica 1 returned a number, replica 2 a nil'] = {{1}, {}},
         ['output%[2%]: replica 1 returned a nil, replica 2 a number'] = {{1}, {1, 2}},
         ['output: replica 1 returned a table, replica 2 a number'] = {{}, 1},
      } do
         assert.error_matches(function() gather(nil, pair, 2, 1, 1, 'output') end, wanted)
      end
      assert.error_matches(function()
         gather(nil, {torch.CudaTensor(1), torch.CudaIntTensor(1)}, 2, 1, 1, 'output')
      end, 'returned a torch.CudaTensor, replica 2 a torch.CudaIntTensor')
   end)
end)
