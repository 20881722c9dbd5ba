-- digits: a convolutional network learns to read handwritten digits, on several devices at once.
--
--   scripts/dpt examples/digits.lua [--devices N] [--epochs E] [--batch B] [--lr R] [--seed S]
--                                   [--threads] [--save FILE]
--
-- The data is examples/data (1,797 images of 8x8 pixels); 297 of them, evenly spread, are kept for
-- the test. --save writes the trained parameters as text: their number on the first line, then one
-- of them on each line, with all digits. The last line printed is `test accuracy: 0.NNNN`.
-- short: --epochs 5
-- short: --epochs 5 --threads
require 'dpt'
local nn, optim, cutorch, xlua, sys = nn, optim, cutorch, xlua, sys
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains a convolutional network on handwritten digits with nn.DataParallelTable.')
cmd:option('--devices', 0, 'on how many devices (0: all of them)')
cmd:option('--epochs', 30, 'how often the training images are shown')
cmd:option('--batch', 40, 'images a step')
cmd:option('--lr', 0.05, 'learning rate: it rises over five epochs, then falls to zero')
cmd:option('--seed', 1, 'of the first parameters and the order of the images')
cmd:option('--threads', false, 'call each replica from a thread of its own')
cmd:option('--save', '', 'file for the trained parameters')
local opt = cmd:parse(arg)

-- Reads the images (N, 1, 8, 8), from 0 to 1, and their classes 1..10.
local function load()
   local here = debug.getinfo(1, 'S').source:match('^@(.*)digits%.lua$') or ''
   local pixels, classes = {}, {}
   local pipe = assert(io.popen(("gzip -dc '%sdata/digits.csv.gz'"):format(here)))
   for line in pipe:lines() do
      local row = {}
      for number in line:gmatch('%d+') do row[#row + 1] = tonumber(number) end
      classes[#classes + 1] = table.remove(row) + 1
      pixels[#pixels + 1] = row
   end
   pipe:close()
   assert(#pixels == 1797, 'examples/data/digits.csv.gz is missing or damaged')
   return torch.Tensor(pixels):div(16):view(-1, 1, 8, 8), torch.Tensor(classes)
end

-- 297 test images, evenly spread over the file; the others are for training.
local function split(images, classes)
   local test, train = {}, {}
   for i = 1, images:size(1) do
      local tests = math.floor(i * 297 / 1797) > math.floor((i - 1) * 297 / 1797)
      table.insert(tests and test or train, i)
   end
   local function pick(list)
      list = torch.LongTensor(list)
      return {images = images:index(1, list), classes = classes:index(1, list)}
   end
   return pick(train), pick(test)
end

local function network()
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(1, 32, 3, 3, 1, 1, 1, 1)):add(nn.Tanh())
   net:add(nn.SpatialConvolution(32, 32, 3, 3, 1, 1, 1, 1)):add(nn.Tanh())
   net:add(nn.SpatialMaxPooling(2, 2)) -- (N, 32, 4, 4)
   net:add(nn.SpatialConvolution(32, 64, 3, 3, 1, 1, 1, 1)):add(nn.Tanh())
   net:add(nn.SpatialMaxPooling(2, 2)) -- (N, 64, 2, 2)
   net:add(nn.View(256):setNumInputDims(3))
   net:add(nn.Linear(256, 128)):add(nn.Tanh()):add(nn.Linear(128, 10))
   for _, module in ipairs(net:listModules()) do
      if module.weight then -- wider than Torch7's own, so that no epochs are lost at the start
         module:reset(math.sqrt(module.weight:size(1) / module.weight:nElement()))
      end
   end
   return net:add(nn.LogSoftMax())
end

local devices = {}
for i = 1, opt.devices > 0 and opt.devices or cutorch.getDeviceCount() do devices[i] = i end
torch.manualSeed(opt.seed)
local train, test = split(load())
local net = nn.DataParallelTable(1, true):add(network():cuda(), devices)
if opt.threads then net:threads() end
local criterion = nn.ClassNLLCriterion():cuda()
local parameters, gradients = net:getParameters()
local rows = torch.LongTensor(#devices):zero():totable() -- that each device has worked on
print(('%d parameters, %d images to learn from, %d to test, on %d device(s)'):format(
   parameters:nElement(), train.images:size(1), test.images:size(1), #devices))

-- Forward and, for the optimizer, backward on one batch.
local images, classes = torch.CudaTensor(), torch.CudaTensor()
local function feval()
   net:zeroGradParameters()
   local output = net:forward(images)
   local loss = criterion:forward(output, classes)
   net:backward(images, criterion:backward(output, classes))
   for i, part in ipairs(net.inputGpu) do
      rows[i] = rows[i] + (part:dim() > 0 and part:size(1) or 0)
   end
   return loss, gradients
end

-- Images of a batch, all moved by up to one pixel, so that there are more than 1,500 to learn from.
local frame = torch.Tensor(train.images:size(1), 1, 10, 10):zero()
frame:narrow(3, 2, 8):narrow(4, 2, 8):copy(train.images)
local function moved(batch)
   return frame:index(1, batch):narrow(3, torch.random(3), 8):narrow(4, torch.random(3), 8)
end

local state = {learningRate = opt.lr, momentum = 0.9, weightDecay = 1e-4}
local started, epochs, total = sys.clock(), {}, train.images:size(1)
for epoch = 1, opt.epochs do
   local begun, loss, steps = sys.clock(), 0, 0
   local order = torch.randperm(total):long()
   state.learningRate = opt.lr * math.min(epoch / 5, 1)
      * (1 + math.cos(math.pi * (epoch - 1) / opt.epochs)) / 2
   net:training()
   for first = 1, total, opt.batch do
      local batch = order:narrow(1, first, math.min(opt.batch, total - first + 1))
      local chosen = moved(batch)
      images:resize(chosen:size()):copy(chosen)
      classes:resize(batch:size(1)):copy(train.classes:index(1, batch))
      local _, losses = optim.sgd(feval, parameters, state)
      loss, steps = loss + losses[1], steps + 1
      xlua.progress(math.min(first + opt.batch - 1, total), total)
   end
   local seconds = sys.clock() - begun
   epochs[epoch] = {loss = loss / steps, rate = total / seconds}
   print(('epoch %2d: loss %.4f, %.0f images/s'):format(epoch, loss / steps, total / seconds))
end
local seconds = sys.clock() - started

local function accuracy(set)
   net:evaluate()
   local _, best = net:forward(set.images):float():max(2)
   return best:view(-1):eq(set.classes:long()):sum() / set.classes:size(1)
end

collectgarbage()
print('\ndevice      rows   bytes live   bytes peak')
for i, device in ipairs(devices) do
   local memory = cutorch.memoryStats(device)
   print(('%6d %9d %12d %12d'):format(device, rows[i], memory.live, memory.peak))
end
print('\nepochs   last loss   images/s    seconds   training accuracy')
local last = epochs[#epochs] or {loss = 0 / 0, rate = 0}
local trained, tested = accuracy(train), accuracy(test)
print(('%6d %11.4f %10.0f %10.1f %19.4f\n'):format(opt.epochs, last.loss,
   total * opt.epochs / seconds, seconds, trained))

if opt.save ~= '' then
   local file = assert(io.open(opt.save, 'w'))
   local values = parameters:float()
   file:write(values:nElement(), '\n')
   for i = 1, values:nElement() do file:write(('%.9g\n'):format(values[i])) end
   file:close()
end
print(('test accuracy: %.4f'):format(tested))
