-- cudnn.ClippedReLU: x limited to 0..ceiling.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn

describe('cudnn.ClippedReLU', function()
   for _, typename in ipairs{'torch.FloatTensor', 'torch.CudaTensor'} do
      it('limits its input and passes gradients on inside the limits, ' .. typename, function()
         local x = torch.Tensor{-1, 0.5, 2, 3.5}:type(typename)
         local m = cudnn.ClippedReLU(3):type(typename)
         assert.same({0, 0.5, 2, 3}, m:forward(x):double():totable())
         assert.same({0, 1, 1, 0},
            m:backward(x, x.new(4):fill(1)):double():totable())
         assert.equal(3, m.ceiling)
         local inPlace = cudnn.ClippedReLU(3, true):type(typename)
         assert.is_true(inPlace:forward(x):isSetTo(x))
         assert.same({0, 0.5, 2, 3}, x:double():totable())
      end)
   end

   it('rejects a call without a ceiling', function()
      assert.error_matches(function() cudnn.ClippedReLU(nil, true) end, 'ceiling')
      assert.error_matches(function() cudnn.ClippedReLU{} end, 'ceiling')
   end)
end)
