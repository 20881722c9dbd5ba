-- digits: trains a convolutional network to read handwritten digits, on several devices at once.
--
--   scripts/dpt examples/digits.lua [--devices N] [--epochs E] [--batch B] [--lr R] [--seed S]
--                                   [--threads] [--save FILE] [--width W] [--log FILE]
--                                   [--profile FILE] [--quiet] [--recompute] [--precision P]
--
-- The data is examples/data (1,797 images of 8x8 pixels); 297 of them, evenly spaced, are the test
-- set. --save writes the trained parameters as text: their number on the first line, then one
-- parameter per line, with all digits. --log writes each epoch's loss (optim.Logger), --profile a
-- timeline of the devices in the last ten steps (view it with dpt timeline). --recompute saves
-- memory: backward computes the activations of the convolutions again, with the same results.
-- The last line is `test accuracy: 0.NNNN`.
-- short: --epochs 3 --quiet --width 8 --log /dev/null --profile /dev/null
-- short: --epochs 5
-- short: --epochs 5 --threads --recompute --precision bfloat16
require 'dpt'
local nn, optim, cutorch, xlua, sys = nn, optim, cutorch, xlua, sys
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains a convolutional network on handwritten digits with nn.DataParallelTable.')
cmd:option('--devices', 0, 'on how many devices (0: all of them)')
cmd:option('--epochs', 30, 'how often the training images are shown')
cmd:option('--batch', 40, 'images a step')
cmd:option('--lr', 0.05, 'learning rate: it rises over five epochs, then falls to zero')
cmd:option('--precision', 'float', 'of weights and activations: float, bfloat16 or half')
cmd:option('--seed', 1, 'of the first parameters and the order of the images')
cmd:option('--threads', false, 'call each replica from a thread of its own')
cmd:option('--recompute', false, 'compute activations again in backward, to save memory')
cmd:option('--width', 32, 'planes of the first convolution')
cmd:option('--log', '', 'file for the losses')
cmd:option('--profile', '', 'file for what the devices did in the last steps')
cmd:option('--quiet', false, 'no progress bar')
cmd:option('--save', '', 'file for the trained parameters')
local opt = cmd:parse(arg)

-- Reads the images (N, 1, 8, 8), with values from 0 to 1, and their classes 1..10.
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

-- 297 test images, evenly spaced in the file; the others are for training.
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

-- Returns modules in sequence, in nn.Recompute with --recompute.
local function stage(...)
   local net = nn.Sequential()
   for _, module in ipairs{...} do net:add(module) end
   return opt.recompute and nn.Recompute(net) or net
end

local function network(width)
   local net = nn.Sequential()
   net:add(stage(nn.SpatialConvolution(1, width, 3, 3, 1, 1, 1, 1), nn.Tanh(),
      nn.SpatialConvolution(width, width, 3, 3, 1, 1, 1, 1), nn.Tanh(),
      nn.SpatialMaxPooling(2, 2))) -- (N, width, 4, 4)
   net:add(stage(nn.SpatialConvolution(width, 2 * width, 3, 3, 1, 1, 1, 1), nn.Tanh(),
      nn.SpatialMaxPooling(2, 2))) -- (N, 2 * width, 2, 2)
   net:add(nn.View(8 * width):setNumInputDims(3))
   net:add(nn.Linear(8 * width, 128)):add(nn.Tanh()):add(nn.Linear(128, 10))
   for _, module in ipairs(net:listModules()) do
      if module.weight then -- wider than Torch7's default, so that no epochs are lost at the start
         module:reset(math.sqrt(module.weight:size(1) / module.weight:nElement()))
      end
   end
   return net:add(nn.LogSoftMax())
end

local devices = {}
for i = 1, opt.devices > 0 and opt.devices or cutorch.getDeviceCount() do devices[i] = i end
torch.manualSeed(opt.seed)
local train, test = split(load())
local model = network(opt.width):cuda()
if opt.precision ~= 'float' then model = nn.MixedPrecision(model, opt.precision) end
local scaler = opt.precision == 'half' and optim.LossScaler() or nil
local net = nn.DataParallelTable(1, true):add(model, devices)
if opt.threads then net:threads() end
local criterion = nn.ClassNLLCriterion():cuda()
local parameters, gradients = net:getParameters()
local rows = torch.LongTensor(#devices):zero():totable() -- rows that each device has processed
print(('%d parameters, %d images to learn from, %d to test, on %d device%s'):format(
   parameters:nElement(), train.images:size(1), test.images:size(1), #devices,
   #devices == 1 and '' or 's'))

-- Runs forward and, for the optimizer, backward on one batch.
local images, classes = torch.CudaTensor(), torch.CudaTensor()
local function feval()
   net:zeroGradParameters()
   local output = net:forward(images)
   local loss = criterion:forward(output, classes)
   local gradOutput = criterion:backward(output, classes)
   net:backward(images, scaler and scaler:scale(gradOutput) or gradOutput)
   for i, part in ipairs(net.inputGpu) do
      rows[i] = rows[i] + (part:dim() > 0 and part:size(1) or 0)
   end
   return loss, gradients
end

-- Returns a batch of images, all shifted by up to one pixel to augment the 1,500 training images.
local frame = torch.Tensor(train.images:size(1), 1, 10, 10):zero()
frame:narrow(3, 2, 8):narrow(4, 2, 8):copy(train.images)
local function moved(batch)
   return frame:index(1, batch):narrow(3, torch.random(3), 8):narrow(4, torch.random(3), 8)
end

local profiler = require('dpt').profiler
local log = opt.log ~= '' and optim.Logger(opt.log):setNames{'loss'}
local steps, last = 0, opt.epochs * math.ceil(train.images:size(1) / opt.batch)
-- Reading the loss waits for the devices, so a step has ended before the next begins.
local function step()
   steps = steps + 1
   if opt.profile ~= '' and steps == math.max(1, last - 9) then profiler.start() end
end

local state = {learningRate = opt.lr, momentum = 0.9, weightDecay = 1e-4, scaler = scaler}
local started, epochs, total = sys.clock(), {}, train.images:size(1)
for epoch = 1, opt.epochs do
   local begun, loss, count = sys.clock(), 0, 0
   local order = torch.randperm(total):long()
   state.learningRate = opt.lr * math.min(epoch / 5, 1)
      * (1 + math.cos(math.pi * (epoch - 1) / opt.epochs)) / 2
   net:training()
   for first = 1, total, opt.batch do
      step()
      local batch = order:narrow(1, first, math.min(opt.batch, total - first + 1))
      local chosen = moved(batch)
      images:resize(chosen:size()):copy(chosen)
      classes:resize(batch:size(1)):copy(train.classes:index(1, batch))
      local _, losses = optim.sgd(feval, parameters, state)
      loss, count = loss + losses[1], count + 1
      if not opt.quiet then xlua.progress(math.min(first + opt.batch - 1, total), total) end
   end
   local seconds = sys.clock() - begun
   epochs[epoch] = {loss = loss / count, rate = total / seconds}
   print(('epoch %2d: loss %.4f, %.0f images/s'):format(epoch, loss / count, total / seconds))
   if log then log:add{loss / count} end
end
local seconds = sys.clock() - started
if profiler.isRunning() then profiler.stop(opt.profile) end

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
local final = epochs[#epochs] or {loss = 0 / 0, rate = 0}
local trained, tested = accuracy(train), accuracy(test)
print(('%6d %11.4f %10.0f %10.1f %19.4f\n'):format(opt.epochs, final.loss,
   total * opt.epochs / seconds, seconds, trained))

if opt.save ~= '' then
   local file = assert(io.open(opt.save, 'w'))
   local values = parameters:float()
   file:write(values:nElement(), '\n')
   for i = 1, values:nElement() do file:write(('%.9g\n'):format(values[i])) end
   file:close()
end
print(('test accuracy: %.4f'):format(tested))
