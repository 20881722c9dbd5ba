--- Scripts on words: lookup tables, sums over time, hand-written recurrences, gradient clipping.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'

local function bagOfWords(place)
   local vocabulary, n, length = 12, 9, 5
   local net = nn.Sequential():add(nn.LookupTable(vocabulary, 6)):add(nn.Mean(2))
      :add(nn.Linear(6, 2)):add(nn.LogSoftMax())
   net = place.net(net)
   local inner = place.inner(net)
   local words = torch.LongTensor(n, length):random(1, vocabulary)
   local input = place.move(words)
   local target = place.move(words:select(2, 1):clone():apply(function(w)
      return w > 6 and 2 or 1
   end))
   local criterion = place.move(nn.ClassNLLCriterion())
   local losses = {}
   for i = 1, 15 do
      net:zeroGradParameters()
      losses[i] = criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      net:updateParameters(0.5)
   end
   return losses, {inner:get(1).weight, inner:get(3).weight}
end

-- a recurrence unrolled by hand: clones share parameters, gradients flow back through time
local function unrolled(place)
   local V, H, T, B = 7, 8, 4, 6
   local embed = nn.LookupTable(V, H)
   local cell = nn.Sequential():add(nn.ParallelTable():add(nn.Linear(H, H)):add(nn.Linear(H, H)))
      :add(nn.CAddTable()):add(nn.Tanh())
   local out = nn.Sequential():add(nn.Linear(H, V)):add(nn.LogSoftMax())
   local all = place.move(nn.Container():add(embed):add(cell):add(out))
   local parameters, gradients = all:getParameters()
   local clones = {}
   for t = 1, T do
      clones[t] = {}
      for i, module in ipairs(all.modules) do
         clones[t][i] = module:clone('weight', 'bias', 'gradWeight', 'gradBias')
      end
      clones[t].criterion = place.move(nn.ClassNLLCriterion())
   end
   local text = torch.Tensor(B, T + 1):random(1, V)
   local x, y = place.move(text:narrow(2, 1, T):clone()), place.move(text:narrow(2, 2, T):clone())
   local zero = place.move(torch.zeros(B, H))
   local function feval(p)
      if p ~= parameters then parameters:copy(p) end
      gradients:zero()
      local h, embedded, loss = {[0] = zero}, {}, 0
      for t = 1, T do
         embedded[t] = clones[t][1]:forward(x[{{}, t}])
         h[t] = clones[t][2]:forward{embedded[t], h[t - 1]}
         loss = loss + clones[t].criterion:forward(clones[t][3]:forward(h[t]), y[{{}, t}])
      end
      local dh = zero:clone()
      for t = T, 1, -1 do
         local dout = clones[t].criterion:backward(clones[t][3].output, y[{{}, t}])
         dh:add(clones[t][3]:backward(h[t], dout))
         local d = clones[t][2]:backward({embedded[t], h[t - 1]}, dh)
         clones[t][1]:backward(x[{{}, t}], d[1])
         dh = d[2]:clone()
      end
      gradients:div(T)
      gradients:clamp(-5, 5)
      local norm = gradients:norm()
      if norm > 1 then gradients:mul(1 / norm) end
      return loss / T, gradients
   end
   local losses, config = {}, {learningRate = 0.05, alpha = 0.95}
   for i = 1, 10 do
      local _, fs = optim.rmsprop(feval, parameters, config)
      losses[i] = fs[1]
   end
   return losses, {parameters}
end

local function convolved(place)
   local V, D, L, n = 11, 5, 8, 7
   local net = nn.Sequential():add(nn.LookupTable(V, D)):add(nn.TemporalConvolution(D, 6, 3))
      :add(nn.ReLU()):add(nn.TemporalMaxPooling(L - 2)):add(nn.Squeeze(2)):add(nn.Linear(6, 3))
      :add(nn.LogSoftMax())
   net = place.net(net)
   local input = place.move(torch.Tensor(n, L):random(1, V))
   local target = place.move(torch.Tensor(n):random(1, 3))
   local criterion = place.move(nn.ClassNLLCriterion())
   local parameters, gradients = net:getParameters()
   local losses = {}
   for i = 1, 8 do
      local _, fs = optim.adagrad(function()
         gradients:zero()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return loss, gradients
      end, parameters, {learningRate = 0.1})
      losses[i] = fs[1]
   end
   return losses, {parameters}
end

describe('a script on words trains the same at every place:', function()
   it('the mean of embeddings', function() places.agree(bagOfWords) end)
   it('an unrolled recurrence', function() places.agree(unrolled, 2e-3) end)
   it('a convolution over time', function() places.agree(convolved, 1e-3) end)
end)
