--- Builds, trains and drops a network N times (arg[1]), on host tensors and on two devices, and a
-- pool of threads, under valgrind (scripts/test leaks).
-- Invariant: at the end nothing of the networks is reachable, so that the memory left when the
-- process ends does not grow with N.
require 'dpt'
torch.setdefaulttensortype 'torch.FloatTensor'

local function network()
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(1, 4, 3, 3, 1, 1, 1, 1)):add(nn.SpatialBatchNormalization(4))
   net:add(nn.ReLU()):add(nn.SpatialMaxPooling(2, 2)):add(nn.View(-1):setNumInputDims(3))
   net:add(nn.Dropout()):add(nn.Linear(4 * 4 * 4, 10)):add(nn.LogSoftMax())
   return net
end

local function train(net, criterion, cuda)
   local input, target = torch.rand(6, 1, 8, 8), torch.range(1, 6)
   if cuda then input, target = input:cuda(), target:cuda() end
   local params, grads = net:getParameters()
   optim.sgd(function()
      grads:zero()
      local loss = criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      return loss, grads
   end, params, {learningRate = 0.1, momentum = 0.9})
end

for _ = 1, tonumber(arg[1]) do
   train(network(), nn.ClassNLLCriterion())
   if cutorch and nn.DataParallelTable then
      local net = nn.DataParallelTable(1, true):add(network():cuda(), {1, 2})
      train(net, nn.ClassNLLCriterion():cuda(), true)
   end
   local pool = require 'threads'(2)
   for _ = 1, 4 do
      pool:addjob(function(t) return t:clone():add(1) end, function() end, torch.rand(2))
   end
   pool:terminate()
   collectgarbage()
   collectgarbage()
end
