--- Networks of bench training, ranks, overlap, scaling, loader, peers and calls, each with an input
-- of one rank's batch, and their training step.
--
-- Invariant: they equal the networks of training_peer.py, which lacks the convolutional ones.
local networks = {}

networks['tiny MLP'] = function()
   return nn.Sequential():add(nn.Linear(20, 64)):add(nn.ReLU()):add(nn.Linear(64, 64))
      :add(nn.ReLU()):add(nn.Linear(64, 10)):add(nn.LogSoftMax()), torch.rand(32, 20)
end

networks['VGG-like'] = function()
   local net = nn.Sequential()
   for i, planes in ipairs{32, 64, 128} do
      net:add(nn.SpatialConvolution(i == 1 and 3 or planes / 2, planes, 3, 3, 1, 1, 1, 1))
      net:add(nn.ReLU()):add(nn.SpatialMaxPooling(2, 2))
   end
   return net:add(nn.View(2048)):add(nn.Linear(2048, 256)):add(nn.ReLU()):add(nn.Linear(256, 10))
      :add(nn.LogSoftMax()), torch.rand(16, 3, 32, 32)
end

networks['LSTM'] = function()
   return nn.Sequential():add(nn.SeqLSTM(64, 128)):add(nn.Select(1, 20)):add(nn.Linear(128, 10))
      :add(nn.LogSoftMax()), torch.rand(20, 16, 64)
end

local function block(before, width, stride)
   local body = nn.Sequential()
      :add(nn.SpatialConvolution(before, width, 3, 3, stride, stride, 1, 1))
      :add(nn.SpatialBatchNormalization(width)):add(nn.ReLU(true))
      :add(nn.SpatialConvolution(width, width, 3, 3, 1, 1, 1, 1))
      :add(nn.SpatialBatchNormalization(width))
   local short = nn.Identity()
   if stride > 1 or before ~= width then
      short = nn.Sequential():add(nn.SpatialConvolution(before, width, 1, 1, stride, stride))
         :add(nn.SpatialBatchNormalization(width))
   end
   return nn.Sequential():add(nn.ConcatTable():add(body):add(short)):add(nn.CAddTable(true))
      :add(nn.ReLU(true))
end

--- @param rows of the batch (64)
networks['ResNet-20'] = function(rows)
   local net = nn.Sequential():add(nn.SpatialConvolution(3, 16, 3, 3, 1, 1, 1, 1))
      :add(nn.SpatialBatchNormalization(16)):add(nn.ReLU(true))
   local before = 16
   for _, width in ipairs{16, 32, 64} do
      for i = 1, 3 do
         net:add(block(before, width, i == 1 and width > 16 and 2 or 1))
         before = width
      end
   end
   return net:add(nn.SpatialAveragePooling(8, 8)):add(nn.View(64)):add(nn.Linear(64, 10)),
      torch.randn(rows or 64, 3, 32, 32)
end

--- @return function(input, target): queues a step of optim.sgd; it may return before the device is
-- done
function networks.training(net, state)
   local criterion = nn.ClassNLLCriterion():cuda()
   local params, grads = net:getParameters()
   return function(input, target)
      optim.sgd(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return loss, grads
      end, params, state)
   end
end

--- @return function(): queues a step of optim.sgd on one batch; it does not wait for the loss
function networks.trainer(net, criterion, input, target, state)
   local params, grads = net:getParameters()
   local function loss()
      grads:zero()
      local value = criterion:updateLoss(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      return value, grads
   end
   return function() return optim.sgd(loss, params, state) end
end

--- Three convolutions of 32 x 32 images. @return the network, the number of its features
function networks.features(channels)
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(3, 32, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
   net:add(nn.SpatialConvolution(32, 64, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
   net:add(nn.SpatialMaxPooling(2, 2))
   net:add(nn.SpatialConvolution(64, channels, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
   return net:add(nn.SpatialMaxPooling(2, 2)):add(nn.View(channels * 8 * 8)), channels * 8 * 8
end

--- 35 MB of gradients. @param rows of the batch (64)
networks['convolutional'] = function(rows)
   local net, count = networks.features(128)
   return net:add(nn.Linear(count, 1024)):add(nn.ReLU(true)):add(nn.Linear(1024, 10)),
      torch.rand(rows or 64, 3, 32, 32)
end

return networks
