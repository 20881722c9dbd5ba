--- Scripts with several outputs, several criterions, or an output for each pixel.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'

local function steps(net, criterion, input, target, n, state)
   local parameters, gradients = net:getParameters()
   local losses = {}
   for i = 1, n do
      local function feval()
         net:zeroGradParameters()
         local output = net:forward(input)
         local loss = criterion:forward(output, target)
         net:backward(input, criterion:backward(output, target))
         return loss, gradients
      end
      local _, fs = optim.sgd(feval, parameters, state)
      losses[i] = fs[1]
   end
   return losses, parameters
end

local function multitask(place)
   local trunk = nn.Sequential():add(nn.SpatialConvolution(1, 4, 3, 3)):add(nn.ReLU(true))
      :add(nn.View(4 * 16):setNumInputDims(3))
   local heads = nn.ConcatTable()
   heads:add(nn.Sequential():add(nn.Linear(64, 3)):add(nn.LogSoftMax()))
   heads:add(nn.Sequential():add(nn.Linear(64, 4)))
   heads:add(nn.Sequential():add(nn.Linear(64, 1)):add(nn.Sigmoid()))
   local net = place.net(nn.Sequential():add(trunk):add(heads))
   local criterion = nn.ParallelCriterion():add(nn.ClassNLLCriterion())
      :add(nn.SmoothL1Criterion(), 0.5):add(nn.BCECriterion(), 2)
   criterion = place.move(criterion)
   local n = 8
   local target = {place.move(torch.Tensor(n):random(1, 3)), place.move(torch.randn(n, 4)),
      place.move(torch.Tensor(n, 1):bernoulli())}
   local losses, parameters = steps(net, criterion, place.move(torch.randn(n, 1, 6, 6)), target, 10,
      {learningRate = 0.1, momentum = 0.9, dampening = 0, nesterov = true, weightDecay = 1e-4})
   return losses, {parameters, net.output}
end

local function segmentation(place)
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(3, 6, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
   net:add(nn.SpatialMaxPooling(2, 2, 2, 2))
   net:add(nn.SpatialDilatedConvolution(6, 6, 3, 3, 1, 1, 2, 2, 2, 2)):add(nn.ReLU(true))
   local skip = nn.ConcatTable():add(nn.Identity())
      :add(nn.SpatialConvolution(6, 6, 1, 1))
   net:add(skip):add(nn.CAddTable(true))
   net:add(nn.SpatialFullConvolution(6, 4, 3, 3, 2, 2, 1, 1, 1, 1))
   net = place.net(net)
   local n = 5
   local target = torch.Tensor(n, 8, 8):random(1, 4)
   local weights = torch.Tensor{0.5, 1, 2, 1}
   -- one network, the loss in three forms
   local criterion = place.move(nn.CrossEntropyCriterion(weights))
   local input = place.move(torch.randn(n, 3, 8, 8))
   local parameters, gradients = net:getParameters()
   local labels = place.move(target)
   local losses = {}
   local perPixel = nn.SpatialClassNLLCriterion and place.move(nn.SpatialClassNLLCriterion(weights))
   local logs = place.move(nn.SpatialLogSoftMax())
   for i = 1, 8 do
      -- With the usual epsilon, a step for a gradient of 1e-7, little more than rounding error, is
      -- as large as for any other gradient.
      local _, fs = optim.adam(function()
         gradients:zero()
         local out = net:forward(input)
         local flat = out:transpose(2, 4):transpose(2, 3):contiguous():view(-1, 4)
         local loss = criterion:forward(flat, labels:view(-1))
         assert.is_true(math.abs(loss - perPixel:forward(logs:forward(out), labels)) < 1e-4)
         local grad = criterion:backward(flat, labels:view(-1))
         grad = grad:view(n, 8, 8, 4):transpose(2, 4):transpose(3, 4)
         net:backward(input, grad:contiguous())
         return loss, gradients
      end, parameters, {learningRate = 0.02, epsilon = 1e-4})
      losses[i] = fs[1]
   end
   local _, predicted = net.output:max(2)
   assert.same({n, 1, 8, 8}, predicted:size():totable())
   return losses, {parameters}
end

local function residual(place)
   local function block(n)
      local s = nn.Sequential():add(nn.SpatialConvolution(n, n, 3, 3, 1, 1, 1, 1))
         :add(nn.ReLU(true)):add(nn.SpatialConvolution(n, n, 3, 3, 1, 1, 1, 1))
      return nn.Sequential():add(nn.ConcatTable():add(s):add(nn.Identity())):add(nn.CAddTable(true))
         :add(nn.ReLU(true))
   end
   local net = nn.Sequential():add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1)):add(block(4))
      :add(nn.Concat(2):add(nn.SpatialAveragePooling(6, 6)):add(nn.SpatialMaxPooling(6, 6)))
      :add(nn.View(8):setNumInputDims(3)):add(nn.Linear(8, 3))
   net = place.net(net)
   local n = 10
   local losses, parameters = steps(net, place.move(nn.CrossEntropyCriterion()),
      place.move(torch.randn(n, 3, 6, 6)), place.move(torch.Tensor(n):random(1, 3)), 10,
      {learningRate = 0.05, momentum = 0.9, dampening = 0})
   return losses, {parameters, net.output}
end

describe('a script trains the same at every place:', function()
   it('three heads and criterions', function() places.agree(multitask) end)
   it('a class for each pixel', function() places.agree(segmentation) end)
   it('residual blocks', function() places.agree(residual) end)
end)
