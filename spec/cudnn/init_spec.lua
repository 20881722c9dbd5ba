--- The table cudnn: its classes, and functions that no longer need to do anything.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

describe('The table cudnn', function()
   before_each(function() torch.manualSeed(5) end)

   it("defines cudnn.torch's functions that have no effect in dpt", function()
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
   end)


   it("defines the convolution methods that rebuilt cuDNN's descriptors", function()
      local x = torch.CudaTensor(1, 2, 3, 3):fill(1)
      for _, name in ipairs{'SpatialConvolution', 'SpatialFullConvolution'} do
         local module = cudnn[name](2, 1, 1, 1):cuda()
         assert.equal(module, module:resetWeightDescriptors())
         module:createIODescriptors(x)
         module:clearDesc()
      end
   end)

   it('has every class of cudnn.torch, with a class of nn above each layer', function()
      for name, parent in pairs{ReLU = 'nn.ReLU', SpatialConvolution = 'nn.SpatialConvolution',
         BatchNormalization = 'nn.BatchNormalization', SpatialMaxPooling = 'nn.SpatialMaxPooling',
         LogSoftMax = 'nn.LogSoftMax', SpatialCrossMapLRN = 'nn.SpatialCrossMapLRN',
         LSTM = 'cudnn.RNN', ClippedReLU = 'nn.HardTanh'} do
         local methods = torch.getmetatable('cudnn.' .. name)
         assert.equal(torch.getmetatable(parent), getmetatable(methods), name)
         assert.equal(torch.getconstructortable('cudnn.' .. name), cudnn[name])
      end
      assert.same(nn.Tanh():forward(torch.ones(3)):totable(),
         cudnn.Tanh():forward(torch.ones(3)):totable())
   end)
end)
