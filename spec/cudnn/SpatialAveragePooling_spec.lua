-- cudnn.SpatialAveragePooling: as nn's, but strides default to the window.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

describe('cudnn.SpatialAveragePooling', function()
   it('moves by its window unless it is given strides', function()
      local m = cudnn.SpatialAveragePooling(3, 2)
      assert.same({3, 2}, {m.dW, m.dH})
      m = cudnn.SpatialAveragePooling(3, 2, 1, 1, 1, 0)
      assert.same({1, 1, 1, 0}, {m.dW, m.dH, m.padW, m.padH})
   end)

   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
      it('computes what nn.SpatialAveragePooling of these strides does, ' .. typename, function()
         torch.manualSeed(2)
         local x = torch.randn(2, 3, 6, 6):type(typename)
         local m, same = cudnn.SpatialAveragePooling(3, 2):type(typename),
            nn.SpatialAveragePooling(3, 2, 3, 2):type(typename)
         local y = same:forward(x)
         assert.equal(0, (m:forward(x) - y):abs():max())
         assert.equal(0, (m:backward(x, y) - same:backward(x, y)):abs():max())
      end)
   end
end)
