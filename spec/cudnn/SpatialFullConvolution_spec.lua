-- cudnn.SpatialFullConvolution: the class of nn with cudnn.torch's choice of algorithms.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

describe('cudnn.SpatialFullConvolution', function()
   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
      it('computes what the class of nn does, with its gradients, ' .. typename, function()
         torch.manualSeed(3)
         local m, plain = cudnn.SpatialFullConvolution(3, 2, 3, 2, 2, 1, 1, 0, 1, 0):type(typename),
            nn.SpatialFullConvolution(3, 2, 3, 2, 2, 1, 1, 0, 1, 0):type(typename)
         plain.weight:copy(m.weight)
         plain.bias:copy(m.bias)
         local x = torch.randn(2, 3, 4, 5):type(typename)
         local y = plain:forward(x)
         assert.equal(0, (m:forward(x) - y):abs():max())
         m:zeroGradParameters()
         plain:zeroGradParameters()
         assert.equal(0, (m:backward(x, y) - plain:backward(x, y)):abs():max())
         assert.equal(0, (m.gradWeight - plain.gradWeight):abs():max())
      end)
   end

   it('takes the choice of algorithms', function()
      local m = cudnn.SpatialFullConvolution(3, 2, 3, 2, 2, 1, 1, 0, 1, 0)
      assert.is_true(rawequal(m, m:setMode(1, 2, 3):fastest(false):resetMode()))
      assert.is_false(m.fastest_mode)
   end)
end)
