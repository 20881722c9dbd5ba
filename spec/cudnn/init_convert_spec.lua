--- cudnn.convert: a round trip returns the same network and the same results.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local function network()
   return nn.Sequential():add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
      :add(nn.SpatialBatchNormalization(4)):add(nn.SpatialMaxPooling(2, 2):ceil())
      :add(nn.SpatialAveragePooling(2, 2, 1, 1, 1, 1):setCountExcludePad())
      :add(nn.Concat(2):add(nn.SpatialFullConvolution(4, 2, 2, 2, 2, 2)):add(nn.Sequential()
         :add(nn.SpatialUpSamplingNearest(2)):add(nn.Tanh())))
      :add(nn.SpatialCrossMapLRN(3)):add(nn.Sigmoid()):add(nn.SpatialSoftMax()):cuda()
end

describe('cudnn.convert', function()
   it('converts in both directions without changing outputs and gradients', function()
      torch.manualSeed(1)
      local net, x = network(), torch.CudaTensor(2, 3, 5, 5):uniform()
      net:evaluate()
      local y = net:forward(x):clone()
      local g = y:clone():uniform()
      net:zeroGradParameters()
      local gradInput = net:backward(x, g):clone()
      local gradWeight = net:get(1).gradWeight:clone()
      local there = cudnn.convert(net, cudnn)
      assert.is_true(rawequal(there, net))
      for _, m in ipairs(net:listModules()) do
         local name = torch.type(m)
         assert.truthy(name:find '^cudnn' or name:find 'Sequential' or name:find 'Concat'
            or name:find 'UpSampling', name)
      end
      for _, to in ipairs{cudnn, nn} do
         cudnn.convert(net, to)
         assert.equal(0, (net:forward(x) - y):abs():max())
         net:zeroGradParameters()
         assert.equal(0, (net:backward(x, g) - gradInput):abs():max())
         assert.equal(0, (net:get(1).gradWeight - gradWeight):abs():max())
      end
      assert.equal('nn.SpatialConvolution', torch.type(net:get(1)))
   end)

   it('turns a weight that is a matrix into one of planes, over the same memory', function()
      local net = nn.Sequential():add(nn.SpatialConvolutionMM(3, 4, 3, 2)):cuda()
      local parameters = net:getParameters()
      local x = torch.CudaTensor(1, 3, 5, 5):uniform()
      local y = net:forward(x):clone()
      cudnn.convert(net, cudnn)
      assert.equal('cudnn.SpatialConvolution', torch.type(net:get(1)))
      assert.same({4, 3, 2, 3}, net:get(1).weight:size():totable())
      assert.equal(0, (net:forward(x) - y):abs():max())
      parameters:zero()
      assert.equal(0, net:get(1).weight:abs():max())
   end)

   it('leaves modules that are excluded, and raises for groups that nn has not', function()
      local net = nn.Sequential():add(nn.ReLU()):add(nn.Tanh()):cuda()
      cudnn.convert(net, cudnn, function(m) return torch.type(m) == 'nn.Tanh' end)
      assert.equal('cudnn.ReLU', torch.type(net:get(1)))
      assert.equal('nn.Tanh', torch.type(net:get(2)))
      local groups = nn.Sequential():add(cudnn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1, 2))
      assert.error_matches(function() cudnn.convert(groups, nn) end, 'groups = 2')
   end)

   it('accepts objects that contain a network and have a method replace', function()
      local model = {net = nn.Sequential():add(nn.ReLU())}
      function model:replace(f)
         self.net:replace(f)
         return 'replaced'
      end
      assert.equal('replaced', cudnn.convert(model, cudnn))
      assert.equal('cudnn.ReLU', torch.type(model.net:get(1)))
   end)

   it('raises for values that are not modules', function()
      for _, bad in ipairs{'net', {}, torch.Tensor(2)} do
         assert.error_matches(function() cudnn.convert(bad, cudnn) end,
            'cudnn.convert: got a ' .. torch.type(bad) .. ', wanted a module')
      end
      assert.error_matches(function() cudnn.convert() end, 'got a nil, wanted a module')
   end)
end)
