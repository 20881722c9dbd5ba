-- cudnn.VolumetricAveragePooling: nn's with padding; the average includes the zeros.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local check = require 'spec.support.jacobian'

describe('cudnn.VolumetricAveragePooling', function()
   it('counts the zeros of its padding', function()
      local m = cudnn.VolumetricAveragePooling(2, 2, 2, 2, 2, 2, 1, 1, 1):double()
      local x = torch.range(1, 8):double():view(1, 1, 2, 2, 2)
      assert.same((x / 8):totable(), m:forward(x):totable())
      check.module(function()
         return cudnn.VolumetricAveragePooling(3, 2, 2, 2, 1, 2, 1, 0, 1):ceil():double()
      end, function() return torch.randn(2, 2, 4, 3, 4):double() end)
   end)

   it("is nn's without padding, with the window as stride", function()
      local x = torch.randn(2, 4, 5, 6):double()
      local m = cudnn.VolumetricAveragePooling(2, 2, 3):double()
      assert.same(nn.VolumetricAveragePooling(2, 2, 3):double():forward(x):totable(),
         m:forward(x):totable())
      assert.same({2, 2, 2, 3}, m:ceil():forward(x):size():totable())
      assert.same({2, 2, 1, 3}, m:floor():forward(x):size():totable())
   end)
end)
