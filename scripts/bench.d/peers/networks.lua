--- Rows of `scripts/bench peers` about layers and training; peer.py has PyTorch's side of each.
--
-- Invariant: as tensors.lua. A training step is zero, forward, loss, backward and an update of the
-- flat parameters: SGD with momentum, or AdamW for the transformers. Neither side computes the
-- gradient of the batch: here the first layer's gradInput is nil, the usual way in Torch7. With 2
-- workers nn.DataParallelTable runs two host devices of one core each, and PyTorch's
-- DistributedDataParallel, on gloo, two processes of one thread; the batch is the same.
local shared = require 'networks'
local gpt2 = dofile(arg[0]:match '^(.*/)' .. '../../examples/gpt2.lua')
local rows = {} -- and cases: functions that return networks with input and target, by name

local function classes(net, x, n)
   net:get(1).gradInput = nil
   return {net = net, criterion = nn.CrossEntropyCriterion(), x = x,
      y = torch.FloatTensor(x:size(1)):random(1, n)}
end

local function convolutions(net, before, width, count)
   for _ = 1, count do
      net:add(nn.SpatialConvolution(before, width, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
      before = width
   end
   return net:add(nn.SpatialMaxPooling(2, 2))
end

-- Returns a GPT-2 that trains on texts of 256 tokens.
local function transformer(batch, vocabulary, positions, width, layers, heads)
   return {net = gpt2.network{vocabulary = vocabulary, positions = positions, width = width,
         layers = layers, heads = heads}:float(), criterion = nn.CrossEntropyCriterion(),
      x = torch.LongTensor(batch, 256):random(1, vocabulary),
      y = torch.LongTensor(batch * 256):random(1, vocabulary), step = optim.adamw,
      state = {learningRate = 1e-4, weightDecay = 0.01}}
end

rows.cases = {
   gpt = function() return transformer(8, 256, 256, 384, 6, 6) end,
   gpt2 = function() return transformer(1, 50257, 1024, 768, 12, 12) end,
   mlp_784 = function()
      return classes(nn.Sequential():add(nn.Linear(784, 1024)):add(nn.ReLU(true))
         :add(nn.Linear(1024, 10)), torch.randn(128, 784), 10)
   end,
   tiny = function()
      return classes(nn.Sequential():add(nn.Linear(16, 32)):add(nn.ReLU(true))
         :add(nn.Linear(32, 32)):add(nn.ReLU(true)):add(nn.Linear(32, 10)), torch.randn(16, 16), 10)
   end,
   mlp_1024 = function()
      local net = nn.Sequential()
      for _ = 1, 3 do net:add(nn.Linear(1024, 1024)):add(nn.ReLU(true)) end
      return classes(net:add(nn.Linear(1024, 10)), torch.randn(256, 1024), 10)
   end,
   vgg = function()
      local net = nn.Sequential()
      convolutions(net, 3, 32, 2)
      convolutions(net, 32, 64, 2)
      convolutions(net, 64, 128, 2)
      net:add(nn.View(2048)):add(nn.Linear(2048, 256)):add(nn.ReLU(true)):add(nn.Linear(256, 10))
      return classes(net, torch.randn(64, 3, 32, 32), 10)
   end,
   resnet = function()
      local net, x = shared['ResNet-20']()
      return classes(net, x, 10)
   end,
   lstm = function()
      local net = nn.Sequential():add(nn.LookupTable(1000, 256))
         :add(cudnn.LSTM(256, 256, 2, true):float()):add(nn.Bottle(nn.Linear(256, 1000)))
      return {net = net, criterion = nn.CrossEntropyCriterion(),
         x = torch.FloatTensor(32, 32):random(1, 1000), y = torch.FloatTensor(1024):random(1, 1000),
         flat = true}
   end,
}

-- Returns a function that takes a step; the criterion's input has a row for each target.
function rows.trainer(case)
   local net, criterion, x, y = case.net, case.criterion, case.x, case.y
   local params, gradients = net:getParameters()
   local step, state = case.step or optim.sgd, case.state or {learningRate = 0.01, momentum = 0.9}
   local function loss()
      net:zeroGradParameters()
      local output = net:forward(x)
      local flat = case.flat and output:view(y:size(1), -1) or output
      local value = criterion:forward(flat, y)
      local gradient = criterion:backward(flat, y)
      net:backward(x, gradient:viewAs(output))
      return value, gradients
   end
   return function() step(loss, params, state) end
end

local function onDevices(case)
   case.net = nn.DataParallelTable(1, true):add(case.net:cuda(), {1, 2})
   case.criterion, case.x, case.y = case.criterion:cuda(), case.x:cuda(), case.y:cuda()
   local step = rows.trainer(case)
   return function()
      step()
      cutorch.synchronizeAll()
   end
end

local function add(name, title, asked, threads, start)
   local row = {name = name, title = title, asked = asked, threads = threads, start = start}
   rows[#rows + 1] = row
   return row
end

-- Returns the operations of a step's products and convolutions: forward, gradients of weights and,
-- except for the first layer, gradients of inputs.
local function linear(rows, ...)
   local sum, sizes = 0, {...}
   for i = 2, #sizes do sum = sum + 2 * rows * sizes[i - 1] * sizes[i] * (i == 2 and 2 or 3) end
   return sum
end

-- One convolution for each {from, to, size, side of the output}.
local function convolved(batch, layers)
   local sum = 0
   for i, l in ipairs(layers) do
      sum = sum + 2 * batch * l[1] * l[2] * l[3] ^ 2 * l[4] ^ 2 * (i == 1 and 2 or 3)
   end
   return sum
end

local function residual()
   local layers, before = {{3, 16, 3, 32}}, 16
   for i, width in ipairs{16, 32, 64} do
      local side = 64 / 2 ^ i
      if i > 1 then layers[#layers + 1] = {before, width, 1, side} end
      for k = 1, 6 do layers[#layers + 1] = {k == 1 and before or width, width, 3, side} end
      before = width
   end
   return layers
end

-- Returns the operations of a transformer's products: of a token with all weights, and half of the
-- scores, since attention is causal.
local function transformed(batch, vocabulary, width, layers)
   local tokens = batch * 256
   return 3 * 2 * tokens * (12 * width ^ 2 * layers + width * vocabulary)
      + 7 * 2 * tokens * width * layers * 257 / 2
end

local flops = {
   gpt = transformed(8, 256, 384, 6),
   gpt2 = transformed(1, 50257, 768, 12),
   mlp_784 = linear(128, 784, 1024, 10),
   mlp_1024 = linear(256, 1024, 1024, 1024, 1024, 10),
   vgg = convolved(64, {{3, 32, 3, 32}, {32, 32, 3, 32}, {32, 64, 3, 16}, {64, 64, 3, 16},
      {64, 128, 3, 8}, {128, 128, 3, 8}}) + 1.5 * linear(64, 2048, 256) + 2 * 3 * 64 * 2560,
   resnet = convolved(64, residual()),
   lstm = 3 * 2 * 1024 * (2 * 1024 * 512 + 256 * 1000),
}

-- Returns the bytes of the parameters that a step moves besides its products: gradients are
-- cleared; SGD reads them, the momentum and the parameters, and writes the last two; AdamW has two
-- moments.
local function update(name)
   local case = rows.cases[name]()
   return 4 * (case.step and 8 or 6) * case.net:getParameters():nElement()
end

for _, way in ipairs{'forward', 'backward'} do
   local backward = way == 'backward'
   add('conv_' .. way, 'convolution 3x3, 64 to 64, 32x32, batch 32, ' .. way, 1.1, {1, 2},
      function()
         local net, x = nn.SpatialConvolution(64, 64, 3, 3, 1, 1, 1, 1), torch.randn(32, 64, 32, 32)
         local g = torch.randn(32, 64, 32, 32)
         net:forward(x)
         if not backward then return function() net:forward(x) end end
         return function()
            net:zeroGradParameters()
            net:backward(x, g)
         end
      end).flops = convolved(32, {{64, 64, 3, 32}}) / (backward and 1 or 2)
end

for _, row in ipairs{
   {'mlp_784', 'MLP 784-1024-10, batch 128', 1.2},
   {'tiny', 'MLP 16-32-32-10, batch 16', 12, 20},
   {'mlp_1024', 'MLP of 3 layers of 1,024, batch 256', 1.2, 1.2},
   {'vgg', 'VGG-like network, CIFAR, batch 64', 1.6, 1.6},
   {'resnet', 'ResNet-20, CIFAR, batch 64', 1.3, 1.3},
   {'lstm', 'LSTM language model, batch 32', 1.3, 1.3},
   {'gpt', 'GPT of 6 layers of 384, length 256, batch 8', 1, 1.2},
   {'gpt2', 'GPT-2 of 124 M parameters, length 256, batch 1', 1},
} do
   local name, title, asked, workers = unpack(row)
   local function start() return rows.trainer(rows.cases[name]()) end
   local row = add(name, title, asked, {1, 2}, start)
   local moves = flops[name] and update(name)
   row.flops, row.moves, row.compiled = flops[name], moves, name .. '_compiled'
   if workers then
      row = add(name .. '_2w', title .. ', 2 workers', workers, {1},
         function() return onDevices(rows.cases[name]()) end)
      row.flops, row.moves, row.cores = flops[name], moves, 2
   end
end

return rows
