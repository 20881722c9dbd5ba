--- Scripts that change networks: fine-tuning, layers removed, replaced and converted, weights
-- initialized, learning rates by layer, and resuming from checkpoints.
local dpt = require 'dpt'
local torch, nn, optim, cutorch, cudnn = dpt.torch, dpt.nn, dpt.optim, dpt.cutorch, dpt.cudnn

local function convnet(classes)
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1)):add(nn.SpatialBatchNormalization(4))
   net:add(nn.ReLU(true)):add(nn.SpatialMaxPooling(2, 2))
   net:add(nn.SpatialConvolution(4, 6, 3, 3)):add(nn.SpatialBatchNormalization(6))
   net:add(nn.ReLU(true)):add(nn.View(-1):setNumInputDims(3)):add(nn.Dropout(0.3))
   net:add(nn.Linear(24, classes))
   return net
end

-- He's initialization, as in the ResNet scripts.
local function initialize(model)
   local function convolutions(name)
      for _, v in pairs(model:findModules(name)) do
         local n = v.kW * v.kH * v.nOutputPlane
         v.weight:normal(0, math.sqrt(2 / n))
         if cudnn.version >= 4000 then
            v.bias = nil
            v.gradBias = nil
         else
            v.bias:zero()
         end
      end
   end
   local function normalizations(name)
      for _, v in pairs(model:findModules(name)) do
         v.weight:fill(1)
         v.bias:zero()
      end
   end
   convolutions('cudnn.SpatialConvolution')
   convolutions('nn.SpatialConvolution')
   normalizations('cudnn.SpatialBatchNormalization')
   normalizations('nn.SpatialBatchNormalization')
   for _, v in pairs(model:findModules 'nn.Linear') do v.bias:zero() end
   return model
end

local function data(n, classes)
   return torch.CudaTensor(n, 3, 8, 8):uniform(), torch.CudaTensor(n):copy(
      torch.range(1, n):apply(function(i) return i % classes + 1 end))
end

local function parallel(net, devices)
   local table_ = nn.DataParallelTable(1, true):add(net, devices)
   table_.gradInput = nil
   return table_:cuda()
end

-- Runs some steps; returns the losses.
local function train(net, criterion, x, y, state, n)
   local parameters, gradients = net:getParameters()
   local losses = {}
   net:training()
   for i = 1, n do
      local _, fs = optim.sgd(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(x), y)
         net:backward(x, criterion:backward(net.output, y))
         return loss, gradients
      end, parameters, state)
      losses[i] = fs[1]
   end
   return losses
end

describe('a script that changes a network', function()
   local before
   setup(function()
      before = torch.getdefaulttensortype()
      torch.setdefaulttensortype('torch.FloatTensor')
   end)
   teardown(function() torch.setdefaulttensortype(before) end)
   before_each(function()
      torch.manualSeed(3)
      cutorch.manualSeedAll(3)
   end)

   it('initializes, converts to cudnn and back, and trains #devices3', function()
      local net = initialize(convnet(3)):cuda()
      cudnn.convert(net, cudnn)
      cudnn.benchmark, cudnn.fastest = true, true
      assert.equal(2, #net:findModules 'cudnn.SpatialConvolution')
      assert.is_nil(net:get(1).bias)
      for _, m in ipairs(net:findModules 'cudnn.SpatialConvolution') do
         m:setMode('CUDNN_CONVOLUTION_FWD_ALGO_GEMM', nil, nil)
      end
      local x, y = data(9, 3)
      local criterion = nn.CrossEntropyCriterion():cuda()
      local wide = parallel(net, {1, 2, 3})
      local losses = train(wide, criterion, x, y, {learningRate = 0.1, momentum = 0.9,
         dampening = 0, weightDecay = 1e-4, nesterov = true}, 15)
      assert.is_true(losses[15] < losses[1] * 0.7, losses[1] .. ' to ' .. losses[15])
      wide:evaluate()
      local out = wide:forward(x):float()
      local single = cudnn.convert(wide:get(1):clone():clearState(), nn):float()
      single:evaluate()
      assert.equal(2, #single:findModules 'nn.SpatialConvolution')
      assert.is_true((single:forward(x:float()) - out):abs():max() < 1e-4)
   end)

   it('replaces the head and trains it, with the rest frozen', function()
      local net = convnet(5)
      net:remove() -- the last one
      assert.equal('nn.Dropout', torch.type(net:get(#net.modules)))
      net:remove(9)
      local features = net
      features:apply(function(m)
         m.accGradParameters = function() end
         m.updateParameters = function() end
      end)
      local head = nn.Sequential():add(nn.Linear(24, 2)):add(nn.LogSoftMax())
      local whole = nn.Sequential():add(features):add(head):cuda()
      local x, y = data(8, 2)
      local kept = features:get(1).weight:float():clone()
      local losses = train(whole, nn.ClassNLLCriterion():cuda(), x, y, {learningRate = 0.1}, 10)
      assert.is_true(losses[10] < losses[1])
      assert.equal(0, (features:get(1).weight:float() - kept):abs():max())
      whole:insert(nn.Identity(), 2)
      whole.modules[2] = nn.MulConstant(1, true):cuda()
      assert.same({8, 2}, whole:forward(x):size():totable())
      whole:replace(function(m)
         return torch.type(m) == 'nn.ReLU' and nn.LeakyReLU(0.1):cuda() or m
      end)
      assert.equal(2, #whole:findModules 'nn.LeakyReLU')
      assert.equal(0, #whole:findModules 'nn.ReLU')
      local _, containers = whole:findModules 'nn.LeakyReLU'
      for i, m in ipairs(containers[1].modules) do
         if torch.typename(m) == 'nn.LeakyReLU' then containers[1].modules[i] = nn.Tanh():cuda() end
      end
      assert.equal(0, #whole:findModules 'nn.LeakyReLU')
      assert.same({8, 2}, whole:forward(x):size():totable())
   end)

   it('sets a learning rate and a decay for every layer', function()
      local net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2)):cuda()
      local parameters, gradients = net:getParameters()
      local rates, decays = gradients:clone():fill(1), gradients:clone():zero()
      -- by the position of each layer in the flat tensor
      local first = net:get(1)
      local count = first.weight:nElement() + first.bias:nElement()
      rates:narrow(1, 1, count):zero()
      decays[{{count + 1, -1}}]:fill(0.1)
      assert.equal(1, first.weight:storageOffset())
      local kept, moved = first.weight:clone(), net:get(3).weight:clone()
      local x, y = torch.CudaTensor(6, 4):uniform(), torch.CudaTensor(6, 2):fill(1)
      local criterion = nn.MSECriterion():cuda()
      optim.sgd(function()
         gradients:zero()
         local loss = criterion:forward(net:forward(x), y)
         net:backward(x, criterion:backward(net.output, y))
         return loss, gradients
      end, parameters, {learningRate = 0.1, learningRates = rates, weightDecays = decays,
         momentum = 0.9})
      assert.equal(0, (first.weight - kept):abs():max())
      assert.is_true((net:get(3).weight - moved):abs():max() > 0)
   end)

   it('stops, saves, and resumes with the same bits #devices4', function()
      local file = os.tmpname()
      finally(function() os.remove(file) end)
      local function make() return parallel(convnet(3):cuda(), {1, 2}) end
      local criterion = nn.CrossEntropyCriterion():cuda()
      local x, y = data(8, 3)
      local state = {learningRate = 0.05, momentum = 0.9, dampening = 0, learningRateDecay = 0.01}
      local net = make()
      train(net, criterion, x, y, state, 4)
      local rng = cutorch.getRNGState()
      torch.save(file, {epoch = 4, model = net:clearState(), optimState = state,
         rng = torch.getRNGState(), best = 0.5})
      local expected = train(net, criterion, x, y, state, 4)

      local checkpoint = torch.load(file)
      cutorch.setRNGState(rng)
      assert.equal(4, checkpoint.epoch)
      assert.equal('nn.DataParallelTable', torch.type(checkpoint.model))
      local got = train(checkpoint.model, criterion, x, y, checkpoint.optimState, 4)
      for i = 1, 4 do assert.is_true(math.abs(expected[i] - got[i]) < 1e-5, i .. ': ' .. got[i]) end
      -- and on other devices, as fb.resnet.torch reloads: the inner network, wrapped again
      local inner = torch.load(file).model:get(1)
      inner:evaluate()
      local alone = inner:forward(x):clone()
      local wide = parallel(inner, {1, 2, 3, 4})
      wide:evaluate()
      assert.is_true((wide:forward(x) - alone):abs():max() < 1e-5)
      wide:training()
      train(wide, criterion, x, y, torch.load(file).optimState, 4)
   end)
end)
