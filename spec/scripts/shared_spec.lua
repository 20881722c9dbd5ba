--- Scripts whose branches share weights: siamese networks, triplets, tied autoencoders.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'

local function encoder()
   return nn.Sequential():add(nn.Linear(6, 8)):add(nn.Tanh()):add(nn.Linear(8, 4))
end

local function descend(net, criterion, input, target, steps, method, config)
   local parameters, gradients = net:getParameters()
   local losses = {}
   for i = 1, steps do
      local _, fs = method(function()
         gradients:zero()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return loss, gradients
      end, parameters, config)
      losses[i] = fs[1]
   end
   return losses, parameters
end

local function siamese(place)
   local left = encoder()
   local right = left:clone('weight', 'bias', 'gradWeight', 'gradBias')
   local net = nn.Sequential():add(nn.ParallelTable():add(left):add(right))
   net:add(nn.PairwiseDistance(2))
   local input = {torch.randn(9, 6), torch.randn(9, 6)}
   local target = torch.Tensor(9):fill(1)
   target:narrow(1, 5, 5):fill(-1)
   net = place.net(net)
   local criterion = place.move(nn.HingeEmbeddingCriterion(1))
   input = {place.move(input[1]), place.move(input[2])}
   local losses, parameters = descend(net, criterion, input, place.move(target), 12, optim.sgd,
      {learningRate = 0.05, momentum = 0.9})
   assert.equal(6 * 8 + 8 + 8 * 4 + 4, parameters:nElement()) -- once, not twice
   local pair = place.inner(net):get(1)
   assert.equal(0, (pair:get(1):get(1).weight - pair:get(2):get(1).weight):abs():max())
   return losses, {parameters, net.output}
end

local function triplet(place)
   local one = encoder():add(nn.Normalize(2))
   local net = nn.ParallelTable():add(one)
   for _ = 2, 3 do net:add(one:clone('weight', 'bias', 'gradWeight', 'gradBias')) end
   local distances = nn.ConcatTable()
   for other = 2, 3 do
      distances:add(nn.Sequential()
         :add(nn.ConcatTable():add(nn.SelectTable(1)):add(nn.SelectTable(other)))
         :add(nn.PairwiseDistance(2)):add(nn.View(-1, 1):setNumInputDims(1)))
   end
   local whole = nn.Sequential():add(net):add(distances):add(nn.JoinTable(2))
   local input = {}
   for i = 1, 3 do input[i] = place.move(torch.randn(7, 6)) end
   whole = place.net(whole)
   local losses, parameters = descend(whole, place.move(nn.MSECriterion()), input,
      place.move(torch.Tensor(7, 2):fill(0.1)), 10, optim.adam, {learningRate = 0.02})
   return losses, {parameters, whole.output}
end

local function autoencoder(place)
   local up = nn.Linear(8, 3)
   local down = nn.Linear(3, 8)
   down.weight:set(up.weight:t()) -- tied
   down.gradWeight:set(up.gradWeight:t())
   local net = nn.Sequential():add(up):add(nn.Sigmoid()):add(down)
   local x = place.move(torch.rand(10, 8))
   net = place.move(net)
   local up2, down2 = net:get(1), net:get(3)
   assert.equal(0, (up2.weight:t() - down2.weight):abs():max())
   local losses = {}
   local criterion = place.move(nn.MSECriterion())
   for i = 1, 10 do
      net:zeroGradParameters()
      losses[i] = criterion:forward(net:forward(x), x)
      net:backward(x, criterion:backward(net.output, x))
      up2.weight:add(-0.2, up2.gradWeight)
      up2.bias:add(-0.2, up2.gradBias)
      down2.bias:add(-0.2, down2.gradBias)
   end
   assert.equal(0, (up2.weight:t() - down2.weight):abs():max())
   return losses, {up2.weight, net.output}
end

describe('a script with shared weights trains the same at every place:', function()
   it('siamese', function() places.agree(siamese) end)
   it('triplet', function() places.agree(triplet) end)
   it('tied autoencoder', function() places.agree(autoencoder) end)

   it('best model kept by clone("weight", "bias")', function()
      local net = encoder()
      local eval = net:clone('weight', 'bias', 'running_mean', 'running_var')
      eval:evaluate()
      net:get(1).weight:fill(0.5)
      assert.equal(0.5, eval:get(1).weight:mean())
      local best = net:clone()
      net:get(1).weight:fill(1)
      assert.equal(0.5, best:get(1).weight:mean())
      net:share(best, 'weight', 'bias')
      assert.equal(0.5, net:get(1).weight:mean())
   end)
end)
