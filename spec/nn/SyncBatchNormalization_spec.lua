-- nn.SyncBatchNormalization of one rank; spec/distributed has several.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

describe('nn.SyncBatchNormalization', function()
   it('is nn.BatchNormalization in a world of one', function()
      local net = nn.Sequential():add(nn.SpatialBatchNormalization(2)):add(nn.View(-1, 8))
         :add(nn.BatchNormalization(8, 1e-3, 0.2, false)):float()
      local other = nn.SyncBatchNormalization.convert(net:clone())
      assert.equal('nn.SyncBatchNormalization', torch.type(other:get(1)))
      assert.equal('nn.View', torch.type(other:get(2)))
      local input, gradOutput = torch.randn(3, 2, 2, 2):float(), torch.randn(3, 8):float()
      for _ = 1, 2 do
         for _, one in ipairs{net, other} do
            one:zeroGradParameters()
            one:forward(input)
            one:backward(input, gradOutput)
         end
         assert.same(net.output:totable(), other.output:totable())
         assert.same(net.gradInput:totable(), other.gradInput:totable())
         assert.same(net:get(1).gradWeight:totable(), other:get(1).gradWeight:totable())
         assert.same(net:get(1).running_var:totable(), other:get(1).running_var:totable())
      end
      net:evaluate()
      other:evaluate()
      assert.same(net:forward(input):totable(), other:forward(input):totable())
      local loaded = torch.deserialize(torch.serialize(other))
      assert.same(other.output:totable(), loaded:forward(input):totable())
   end)

   it('stands for the network itself, with the same tensors', function()
      local one = nn.BatchNormalization(3)
      local new = nn.SyncBatchNormalization.convert(one)
      assert.is_true(rawequal(one.weight, new.weight))
      assert.is_true(rawequal(one.running_mean, new.running_mean))
      assert.error_matches(function() new:forward(torch.Tensor(2, 4)) end,
         'nn.SyncBatchNormalization: input of size 2x4, wanted 2 dimensions or more', 1, true)
      assert.equal(3, nn.SyncBatchNormalization(3, 1e-4, 0.1, false).running_var:nElement())
   end)
end)
