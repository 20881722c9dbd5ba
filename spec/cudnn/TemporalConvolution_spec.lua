-- cudnn.TemporalConvolution: nn.TemporalConvolution with zero padding of the sequence.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

local function same(a, b) assert.is_true((a:double() - b:double()):abs():max() < 1e-12) end

describe('cudnn.TemporalConvolution', function()
   before_each(function() torch.manualSeed(5) end)

   it('computes what nn.TemporalConvolution does on padded frames, with its gradients', function()
      for _, typename in ipairs(types) do
         local m = cudnn.TemporalConvolution(3, 2, 3, 1, 2):type(typename)
         local plain = nn.TemporalConvolution(3, 2, 3, 1):type(typename)
         plain.weight:copy(m.weight)
         plain.bias:copy(m.bias)
         for _, x in ipairs{torch.randn(4, 3), torch.randn(2, 4, 3)} do
            x = x:type(typename)
            local size = x:size()
            size[x:dim() - 1] = 8
            local wide, time = x.new(size):zero(), x:dim() - 1
            wide:narrow(time, 3, 4):copy(x)
            local y = plain:forward(wide)
            same(y, m:forward(x))
            plain:zeroGradParameters()
            m:zeroGradParameters()
            same(plain:backward(wide, y):narrow(time, 3, 4), m:backward(x, y))
            same(plain.gradWeight, m.gradWeight)
            same(plain.gradBias, m.gradBias)
         end
         assert.is_true(rawequal(m, m:setMode(1, 1, 1):fastest():resetMode()))
      end
   end)

   it("has cudnn.torch's fields: a window of kH frames, kW features wide", function()
      local m = cudnn.TemporalConvolution(3, 2, 5, 2, 1)
      local fields = {nInputPlane = 1, nOutputPlane = 2, kW = 3, kH = 5, dW = 1, dH = 2, padW = 0,
         padH = 1, inputFrameSize = 3, outputFrameSize = 2}
      for name, value in pairs(fields) do assert.are.equal(value, m[name]) end
      assert.are.same({2, 15}, m.weight:size():totable())
      local x = torch.randn(9, 3)
      local y = m:forward(x):clone()
      assert.are.same({4, 2}, y:size():totable()) -- 11 frames with padding
      m.kW, m.dW, m.kH, m.dH = 5, 2, nil, nil -- as read from a file of dpt 1.0.0
      same(y, m:forward(x))
   end)
end)
