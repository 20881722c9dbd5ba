-- pictures: trains a classifier on a folder that has one folder of pictures for each class.
--
--   scripts/dpt examples/pictures.lua [--folder DIR] [--out DIR] [--size S] [--epochs E]
--                                     [--batch B] [--lr R] [--patience P] [--seed S] [--resume]
--                                     [--precision float|bfloat16|half]
--
-- Without --folder it draws pictures of three classes first. Every fifth picture is for
-- validation; the others are flipped and shifted at random each time. The learning rate rises for
-- an epoch, then falls along a cosine; biases and normalization have no weight decay. After each
-- epoch OUT/last.t7 has all that --resume needs, OUT/best.t7 has the network with the highest
-- accuracy so far, and OUT/log.svg shows the losses. Training stops after P epochs without a higher
-- accuracy. The last line is `best accuracy: 0.NNNN`.
-- short: --epochs 3 --size 16
-- short: --epochs 2 --size 16 --precision half
require 'dpt'
local image = require 'image'
local nn, optim, paths = nn, optim, paths
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains a classifier on a folder that has one folder of pictures for each class.')
cmd:option('--folder', '', 'the folder (drawn if missing)')
cmd:option('--out', '', 'folder for checkpoints and the plot (a temporary one)')
cmd:option('--size', 24, 'pictures are scaled to this width and height')
cmd:option('--epochs', 20, 'at most')
cmd:option('--batch', 16, 'pictures a step')
cmd:option('--lr', 0.01, 'highest learning rate')
cmd:option('--patience', 5, 'epochs without a higher accuracy before training stops')
cmd:option('--precision', 'float', 'of weights and activations: float, bfloat16 or half')
cmd:option('--seed', 1, 'of the first parameters, the order and the augmentation')
cmd:option('--resume', false, 'continue from OUT/last.t7')
local opt = cmd:parse(arg)
torch.manualSeed(opt.seed)

local temporary = os.tmpname()
os.remove(temporary)

-- Draws 50 noisy pictures of stripes, in any direction, for each of three widths.
local function draw(folder)
   local x = torch.range(1, 32):view(1, -1):expand(32, 32)
   for class, width in ipairs{'narrow', 'medium', 'wide'} do
      paths.mkdir(folder .. '/' .. width)
      for i = 1, 50 do
         local angle, step = torch.uniform(0, math.pi), 1.6 / class
         local phases = x * (step * math.cos(angle)) + x:t() * (step * math.sin(angle))
         local picture = (phases + torch.uniform(0, 6)):sin():mul(0.3):add(0.5)
         picture:add(torch.randn(32, 32):mul(0.1)):clamp(0, 1)
         image.save(('%s/%s/%d.png'):format(folder, width, i), picture)
      end
   end
end

-- Returns the pictures of a folder (N, 3, size, size), their classes, and the names of the classes.
local function load(folder)
   local names, list, classes = {}, {}, {}
   for name in paths.iterdirs(folder) do names[#names + 1] = name end
   table.sort(names)
   for class, name in ipairs(names) do
      local files = {}
      for file in paths.iterfiles(folder .. '/' .. name) do files[#files + 1] = file end
      table.sort(files)
      for _, file in ipairs(files) do
         local picture = image.load(('%s/%s/%s'):format(folder, name, file), 3, 'float')
         list[#list + 1] = image.scale(picture, opt.size, opt.size):view(1, 3, opt.size, opt.size)
         classes[#classes + 1] = class
      end
   end
   assert(#list > 0, folder .. ' has no folders with pictures')
   return torch.cat(list, 1), torch.Tensor(classes), names
end

-- Returns the pictures at the given positions, flipped and shifted at random if asked.
local function batch(data, positions, augments)
   local pictures = data.pictures:index(1, positions)
   for i = 1, augments and pictures:size(1) or 0 do
      local picture = pictures[i]
      if torch.bernoulli() == 1 then picture:copy(image.hflip(picture)) end
      picture:copy(image.translate(picture, torch.random(-2, 2), torch.random(-2, 2)))
   end
   return pictures:add(-0.5), data.classes:index(1, positions)
end

local folder = opt.folder
if folder == '' then
   folder = temporary .. '/pictures'
   draw(folder)
end
local out = opt.out ~= '' and opt.out or temporary .. '/out'
paths.mkdir(out)
local data = {}
data.pictures, data.classes, data.names = load(folder)
local train, validation = {}, {}
for i = 1, data.classes:size(1) do table.insert(i % 5 == 0 and validation or train, i) end
train, validation = torch.LongTensor(train), torch.LongTensor(validation)

local function network(classes)
   local net, width = nn.Sequential(), 3
   for _, planes in ipairs{16, 32} do
      net:add(nn.SpatialConvolution(width, planes, 3, 3, 1, 1, 1, 1)):add(nn.GroupNorm(4, planes))
      net:add(nn.GELU()):add(nn.SpatialMaxPooling(2, 2))
      width = planes
   end
   net:add(nn.Mean(4)):add(nn.Mean(3)):add(nn.Linear(width, classes))
   return net
end

-- All that a later run needs to continue: torch.save writes it as it is.
local run = {net = network(#data.names), config = {}, epoch = 0, best = 0, bestEpoch = 0, rows = {}}
if opt.resume then run = torch.load(out .. '/last.t7') end
if opt.precision ~= 'float' then run.net = nn.MixedPrecision(run.net, opt.precision) end
local net, config, criterion = run.net, run.config, nn.CrossEntropyCriterion()
local parameters, gradients = net:getParameters()
config.learningRates, config.weightDecays = nn.utils.parameterGroups(net, {
   {name = 'bias$', weightDecay = 0}, {class = 'GroupNorm', weightDecay = 0},
}, 0.05)
config.scaler = opt.precision == 'half' and (config.scaler or optim.LossScaler()) or nil
local steps = math.ceil(train:size(1) / opt.batch)
local rate = optim.schedule.cosine{
   learningRate = opt.lr, warmup = steps, steps = steps * math.max(1, opt.epochs - 1),
}

-- Trains for an epoch and returns the mean loss.
local function learn()
   net:training()
   local order, sum = torch.randperm(train:size(1)):long(), 0
   for step = 1, steps do
      local first = (step - 1) * opt.batch + 1
      local count = math.min(opt.batch, train:size(1) - first + 1)
      local input, target = batch(data, train:index(1, order:narrow(1, first, count)), true)
      config.learningRate = rate((run.epoch - 1) * steps + step - 1)
      local _, losses = optim.adamw(function()
         gradients:zero()
         local loss = criterion:forward(net:forward(input), target)
         local gradOutput, scaler = criterion:backward(net.output, target), config.scaler
         net:backward(input, scaler and scaler:scale(gradOutput) or gradOutput)
         if scaler then scaler:unscale(gradients) end
         nn.utils.clipGradNorm(gradients, 5)
         return loss, gradients
      end, parameters, config)
      sum = sum + losses[1] * count
   end
   return sum / train:size(1)
end

-- Returns the mean loss and the accuracy on the pictures for validation.
local function validate()
   net:evaluate()
   local input, target = batch(data, validation, false)
   local loss = criterion:forward(net:forward(input), target)
   local _, class = net.output:max(2)
   return loss, class:view(-1):typeAs(target):eq(target):sum() / target:size(1)
end

while run.epoch < opt.epochs and run.epoch - run.bestEpoch < opt.patience do
   run.epoch = run.epoch + 1
   local trained = learn()
   local loss, accuracy = validate()
   print(('epoch %d: training loss %.4f, validation loss %.4f, accuracy %.4f'):format(run.epoch,
      trained, loss, accuracy))
   net:clearState()
   if accuracy > run.best then
      run.best, run.bestEpoch = accuracy, run.epoch
      torch.save(out .. '/best.t7', {net = net, names = data.names, size = opt.size})
   end
   run.rows[run.epoch] = {trained, loss}
   torch.save(out .. '/last.t7', run)
   local log = optim.Logger(out .. '/log'):setNames{'training loss', 'validation loss'}
   for _, row in ipairs(run.rows) do log:add(row) end
   log.epsfile = nil
   log:style{'-', '-'}:plot()
end
if opt.out == '' then paths.rmall(temporary, 'yes') end
print(('best accuracy: %.4f'):format(run.best))
