-- dpt.parallel.split.device_outputs: outputs of replicas, left on their devices.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local outputs = require 'dpt.parallel.split.device_outputs'

describe('dpt.parallel.split.device_outputs', function()
   it('is a plain list whose plan files omit', function()
      local list = outputs.mark({torch.CudaTensor(2)}, {1, 2}, 3)
      assert.same({devices = {1, 2}, dimension = 3}, outputs.plan(list))
      assert.equal('table', torch.type(list))
      assert.is_nil(outputs.plan(torch.deserialize(torch.serialize(list))))
      assert.is_nil(outputs.plan{})
      assert.is_nil(outputs.plan(7))
   end)

   it('returns the rows and the device of trees of tensors', function()
      local tree = {torch.CudaTensor(), {torch.CudaTensor(3, 5), x = torch.FloatTensor(4, 2)}}
      assert.equal(4, outputs.rows(tree, 1))
      assert.equal(5, outputs.rows(tree, 2))
      assert.equal(0, outputs.rows({7}, 1))
      assert.equal(0, outputs.device{torch.FloatTensor(2)})
      assert.equal(1, outputs.device(cutorch.withDevice(1, function()
         return {7, {torch.CudaTensor(2)}}
      end)))
   end)

   it('rejects a gradOutput of another length or device #devices2', function()
      local a = cutorch.withDevice(1, function() return torch.CudaTensor(2) end)
      local b = cutorch.withDevice(2, function() return torch.CudaTensor(2) end)
      local list = {a, {b}}
      assert.equal(list, outputs.check(list, 2, {1, 2}, 'spec'))
      assert.error_matches(function() outputs.check({a}, 2, {1, 2}, 'spec') end,
         'spec: gradOutput must be a list .* each of the 2 replica.* got a list of 1')
      assert.error_matches(function() outputs.check(a, 2, {1, 2}, 'spec') end,
         'got a torch.CudaTensor')
      assert.error_matches(function() outputs.check({a, a}, 2, {1, 2}, 'spec') end,
         'spec: gradOutput%[2%] has a torch.CudaTensor on device 1, wanted on device 2')
   end)

   it('splits other tensors like the outputs, or in proportion', function()
      local cut = outputs.cutting({3, 1, 0}, 'target')
      assert.same({3, 1, 0}, {cut(4, 1), cut(4, 2), cut(4, 3)})
      assert.same({6, 2, 0}, {cut(8, 1), cut(8, 2), cut(8, 3)})
      assert.error_matches(function() cut(6, 1) end,
         'target has 6 rows, which cannot be cut as the 4 of the output are .3, 1, 0.')
      assert.equal(0, outputs.cutting({0, 0}, 'target')(0, 1))
   end)
end)
