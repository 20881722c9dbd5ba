-- distributed: trains a network on handwritten digits in several processes. The job may be killed
-- at any time and resumes from its checkpoint, even with another number of processes.
--
--   dpt launch -n 4 examples/distributed.lua [--steps N] [--batch B] [--lr R] [--save FILE]
--   dpt launch -n 2 examples/distributed.lua --save FILE     -- resumes
--
-- FILE is written every 20 steps; it holds the network, the optimizer, the random states and the
-- position in the data. The batch size is the total over all processes, so the number of processes
-- changes only the time. FILE.loss holds the losses, FILE.loss.svg plots them (optim.Logger).
-- The last line is `test accuracy: 0.NNNN`.
-- short: --steps 40
require 'dpt'
local distributed = require 'dpt.distributed'
local rank, size = distributed.rank(), distributed.size()
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains a network on handwritten digits with nn.DistributedDataParallel.')
cmd:option('--steps', 400, 'how many batches')
cmd:option('--batch', 60, 'images of a batch, over all processes')
cmd:option('--lr', 0.003, 'learning rate')
cmd:option('--save', '', 'checkpoint, from which the job goes on')
local opt = cmd:parse(arg)

-- Reads the images (N, 64), with values from 0 to 1, and their classes 1..10.
local function load()
   local here = debug.getinfo(1, 'S').source:match('^@(.*)distributed%.lua$') or ''
   local pixels, classes = {}, {}
   local pipe = assert(io.popen(("gzip -dc '%sdata/digits.csv.gz'"):format(here)))
   for line in pipe:lines() do
      local row = {}
      for number in line:gmatch('%d+') do row[#row + 1] = tonumber(number) end
      classes[#classes + 1] = table.remove(row) + 1
      pixels[#pixels + 1] = row
   end
   pipe:close()
   return torch.Tensor(pixels):div(16), torch.Tensor(classes)
end

local images, classes = load()
local TEST = 297 -- the last images of the file
local count = images:size(1) - TEST
local saved = opt.save ~= '' and io.open(opt.save) and torch.load(opt.save) or nil

torch.manualSeed(1)
local network = saved and saved.network or nn.Sequential():add(nn.Linear(64, 128))
   :add(nn.BatchNormalization(128)):add(nn.ReLU()):add(nn.Dropout(0.3)):add(nn.Linear(128, 10))
   :add(nn.LogSoftMax()):cuda()
local sampler = distributed.sampler(count, {batch = opt.batch, seed = 1})
local net = nn.DistributedDataParallel(nn.SyncBatchNormalization.convert(network),
   {sampler = sampler})
local adam = optim.ZeroRedundancyOptimizer(optim.adam)
local config, state = {learningRate = opt.lr}, saved and saved.state or {}
local losses = saved and saved.losses or {}
if saved then -- all processes load rank 0's state
   sampler:load(saved.sampler)
   torch.setRNGState(saved.host)
   cutorch.setRNGState(saved.device)
end
if rank == 0 then print(('%d processes, from step %d'):format(size, #losses + 1)) end

local criterion = nn.ClassNLLCriterion():cuda()
local parameters, gradients = net:getParameters()

-- Saves a checkpoint. All processes call it; rank 0 writes.
local function save()
   local whole = adam:whole(state)
   if rank > 0 then return end
   torch.save(opt.save, {network = net, state = whole, losses = losses, sampler = sampler:state(),
      host = torch.getRNGState(), device = cutorch.getRNGState()})
   local log = optim.Logger(opt.save .. '.loss'):setNames{'loss'}
   log:style{'-'}
   for _, loss in ipairs(losses) do log:add{loss} end
   log:plot()
end

while #losses < opt.steps do
   for indices in sampler:epoch() do
      local input = images:index(1, indices):cuda()
      local target = classes:index(1, indices):cuda()
      local _, fx = adam(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return net:meanLoss(loss), gradients
      end, parameters, config, state)
      losses[#losses + 1] = fx[1]
      if opt.save ~= '' and #losses % 20 == 0 then save() end
      if rank == 0 and #losses % 20 == 0 then
         print(('step %3d: loss %.4f'):format(#losses, fx[1]))
      end
      if #losses == opt.steps then break end
   end
end

if rank == 0 then -- evaluation needs no other process
   net:evaluate()
   local _, best = net:forward(images:narrow(1, count + 1, TEST):cuda()):float():max(2)
   local right = best:view(-1):eq(classes:narrow(1, count + 1, TEST):long()):sum()
   print(('test accuracy: %.4f'):format(right / TEST))
end
