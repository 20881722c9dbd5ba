--- Scripts that use tensors directly: a variational autoencoder with custom layers, a recurrence
-- written as one module, word vectors, masks on weights, adversarial images.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'
require 'spec.support.userclasses'

local function known() require 'spec.support.userclasses' end

local function autoencoder(place)
   local x = place.move(torch.rand(9, 10):gt(0.5):float())
   local encoder = nn.Sequential():add(nn.Linear(10, 8)):add(nn.ReLU(true))
      :add(nn.ConcatTable():add(nn.Linear(8, 3)):add(nn.Linear(8, 3)))
   local decoder = nn.Sequential():add(nn.Linear(3, 8)):add(nn.ReLU(true)):add(nn.Linear(8, 10))
      :add(nn.Sigmoid())
   encoder, decoder = place.net(encoder), place.net(decoder)
   local sampler = place.move(nn.SpecSampler())
   local bce = nn.BCECriterion()
   bce.sizeAverage = false
   bce = place.move(bce)
   local pe, ge = encoder:getParameters()
   local pd, gd = decoder:getParameters()
   local states, losses = {{learningRate = 0.01}, {learningRate = 0.01}}, {}
   for i = 1, 12 do
      ge:zero()
      gd:zero()
      local code = encoder:forward(x)
      sampler.noise = place.move(torch.randn(9, 3))
      local z = sampler:forward(code)
      local y = decoder:forward(z)
      local mean, logVariance = code[1], code[2]
      local kld = (torch.pow(mean, 2) + torch.exp(logVariance) - logVariance - 1):sum() / 2
      losses[i] = bce:forward(y, x) + kld
      local dz = decoder:backward(z, bce:backward(y, x))
      local dcode = sampler:backward(code, dz)
      dcode[1]:add(mean)
      dcode[2]:add(0.5, torch.exp(logVariance) - 1)
      encoder:backward(x, dcode)
      optim.adam(function() return losses[i], ge end, pe, states[1])
      optim.adam(function() return losses[i], gd end, pd, states[2])
   end
   return losses, {pe, pd}
end

local function lstm(place)
   local D, H, T, N = 3, 5, 6, 7
   local net = nn.Sequential():add(nn.SpecLSTM(D, H)):add(nn.View(-1, H)):add(nn.Linear(H, D))
   local whole = place.net(net, known)
   local x = torch.randn(N, T, D)
   local target = torch.cumsum(x, 2):view(N * T, D):mul(0.3)
   x, target = place.move(x), place.move(target)
   local criterion = place.move(nn.MSECriterion())
   local parameters, gradients = whole:getParameters()
   local losses, state = {}, {learningRate = 0.02}
   for i = 1, 10 do
      local _, fs = optim.rmsprop(function()
         gradients:zero()
         local loss = criterion:forward(whole:forward(x), target)
         whole:backward(x, criterion:backward(whole.output, target))
         gradients:clamp(-5, 5)
         return loss, gradients
      end, parameters, state)
      losses[i] = fs[1]
   end
   return losses, {parameters}
end

local function skipgram(place)
   local V, D, N, K = 12, 4, 8, 3
   local words = nn.LookupTable(V, D)
   local contexts = nn.LookupTable(V, D)
   local net = nn.Sequential():add(nn.ParallelTable():add(contexts):add(words))
      :add(nn.MM(false, true)):add(nn.Sigmoid()):add(nn.View(-1, K))
   net = place.net(net)
   local input = {place.move(torch.Tensor(N, K):random(1, V)),
      place.move(torch.Tensor(N, 1):random(1, V))}
   local labels = torch.zeros(N, K)
   labels[{{}, 1}]:fill(1)
   labels = place.move(labels)
   local criterion = place.move(nn.BCECriterion())
   local losses = {}
   for i = 1, 10 do
      net:zeroGradParameters()
      losses[i] = criterion:forward(net:forward(input), labels)
      net:backward(input, criterion:backward(net.output, labels))
      net:updateParameters(2)
   end
   return losses, {net.output}
end

describe('a script of generative or recurrent networks trains the same at every place:', function()
   it('a variational autoencoder', function() places.agree(autoencoder, 2e-3) end)
   it('an LSTM as one module', function()
      places.agree(lstm, 2e-3)
      local layer = nn.SpecLSTM(3, 4):double()
      assert.is_true(nn.Jacobian.testJacobian(layer, torch.rand(2, 5, 3):double()) < 1e-6)
   end)
   it('word vectors', function() places.agree(skipgram) end)

   it('masked weights stay masked; a gradient of the input fools', function()
      for _, name in ipairs{'host', 'device', 'parallel', 'threads'} do
         local place = places[name]
         torch.manualSeed(2)
         local net = place.net(nn.Sequential():add(nn.SpatialConvolution(1, 2, 3, 3)):add(nn.Tanh())
            :add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(18, 2)):add(nn.LogSoftMax()):float())
         local weight = place.inner(net):get(1).weight
         local mask = weight:clone():fill(1)
         mask[{{}, {}, {3}, {}}] = 0
         local x, y = place.move(torch.rand(6, 1, 5, 5):float()), place.move(torch.ones(6):float())
         local criterion = place.move(nn.ClassNLLCriterion():float())
         for _ = 1, 3 do
            weight:cmul(mask)
            net:zeroGradParameters()
            criterion:forward(net:forward(x), y)
            net:backward(x, criterion:backward(net.output, y))
            place.inner(net):get(1).gradWeight:cmul(mask)
            net:updateParameters(0.5)
         end
         assert.equal(0, weight[{{}, {}, 3}]:abs():max())
         local before = criterion:forward(net:forward(x), y)
         local slope = net:updateGradInput(x, criterion:backward(net.output, y))
         local fooled = torch.add(x, 0.1, torch.sign(slope))
         assert.is_true(criterion:forward(net:forward(fooled), y) > before, place.name)
      end
   end)
end)
