--- Classes and functions of cudnn.torch that scripts name: the same numbers as nn's, and names that
-- do nothing because nothing is left to do.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

local function same(a, b) assert.is_true((a:double() - b:double()):abs():max() < 1e-12) end

describe('cudnn for scripts', function()
   before_each(function() torch.manualSeed(5) end)

   it('takes volumes to softmax, log-softmax and cross entropy', function()
      for _, typename in ipairs(types) do
         local x = torch.randn(2, 3, 2, 2, 3):type(typename)
         local flat, g = x:view(2, 3, 4, 3), torch.randn(2, 3, 2, 2, 3):type(typename)
         for name, inner in pairs{VolumetricSoftMax = nn.SpatialSoftMax,
            VolumetricLogSoftMax = nn.SpatialLogSoftMax} do
            local m, image = cudnn[name]():type(typename), inner():type(typename)
            same(image:forward(flat), m:forward(x):view(2, 3, 4, 3))
            same(image:backward(flat, g:view(2, 3, 4, 3)), m:backward(x, g):view(2, 3, 4, 3))
            same(m:forward(x)[1], m:forward(x[1]):clone())
            assert.error_matches(function() m:forward(x[1][1]) end, 'wanted 4 or 5')
         end
         assert.is_true(torch.isTypeOf(cudnn.VolumetricLogSoftMax(), 'cudnn.VolumetricSoftMax'))
         local weights = torch.Tensor{1, 2, 0.5}
         local criterion = cudnn.VolumetricCrossEntropyCriterion(weights):type(typename)
         local image = cudnn.SpatialCrossEntropyCriterion(weights):type(typename)
         local target = torch.rand(2, 2, 2, 3):mul(3):floor():add(1):type(typename)
         local square = target:view(2, 4, 3)
         assert.equal(image:forward(flat, square), criterion:forward(x, target))
         same(image:backward(flat, square), criterion:backward(x, target):view(2, 3, 4, 3))
         assert.error_matches(function() criterion:forward(flat, square) end, 'wanted 5 and 4')
      end
   end)

   it('pads the frames of TemporalConvolution', function()
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

   it('has names that leave nothing to do', function()
      local rnn = cudnn.LSTM(2, 3, 2)
      for _, name in ipairs{'Dropout', 'RNN', 'Weight', 'Input', 'Output'} do
         rnn['reset' .. name .. 'Descriptor'](rnn)
      end
      rnn:resetHiddenDescriptors()
      rnn:resetCellDescriptors()
      rnn:forward(torch.CudaTensor(4, 5, 2):fill(1))
      assert.same({2, 5, 3}, rnn:resizeHidden(torch.CudaTensor()):size():totable())
      cudnn.reset()
      cudnn.find.reset()
      cudnn.setSharedWorkspaceSize(1000)
      assert.equal(4, cudnn.sizeof(torch.CudaTensor(1)))
      assert.equal('CUDNN_DATA_FLOAT', cudnn.typemap['torch.CudaTensor'])
      local m = cudnn.SpatialDivisiveNormalization(3)
      assert.error_matches(function() m:forward(torch.rand(1, 2, 2)) end, 'does not compute')
   end)
end)
