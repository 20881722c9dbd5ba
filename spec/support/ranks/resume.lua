-- Trains with checkpoints after each step; resumes from a checkpoint if it exists.
-- Arguments: checkpoint, steps, the step at which the last rank kills itself (0: never), result.
local dpt = require 'dpt'
local distributed = require 'dpt.distributed'
local rank, size = distributed.rank(), distributed.size()
local path, steps, fatal, result = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]

local function pid()
   local file = io.open '/proc/self/stat'
   local number = file:read '*n'
   file:close()
   return number
end

local g = torch.Generator()
torch.manualSeed(g, 5)
local inputs, targets = torch.rand(g, 50, 6), torch.Tensor(50)
for i = 1, 50 do targets[i] = i % 3 + 1 end

local saved = io.open(path) and torch.load(path)
torch.manualSeed(saved and 99 or 4)
local network = saved and saved.network or nn.Sequential():add(nn.Linear(6, 12)):add(nn.Tanh())
   :add(nn.Dropout(0.3)):add(nn.Linear(12, 3)):add(nn.LogSoftMax()):cuda()
local sampler = distributed.sampler(50, {batch = 12, seed = 3})
local net = nn.DistributedDataParallel(network, {sampler = sampler})
local adam, state = dpt.optim.ZeroRedundancyOptimizer(dpt.optim.adam), saved and saved.state or {}
local step = saved and saved.step or 0
if saved then
   sampler:load(saved.sampler)
   torch.setRNGState(saved.host)
   cutorch.setRNGState(saved.device)
end
local criterion = nn.ClassNLLCriterion():cuda()
local x, dx = net:getParameters()

while step < steps do
   local indices = sampler:next()
   if indices then
      step = step + 1
      local input, target = torch.CudaTensor(0, 6), torch.CudaTensor(0)
      if indices:nElement() > 0 then
         input, target = inputs:index(1, indices):cuda(), targets:index(1, indices):cuda()
      end
      adam(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return loss, dx
      end, x, {learningRate = 0.01}, state)
      if step == fatal and rank == size - 1 then os.execute('kill -9 ' .. pid()) end
      local whole = adam:whole(state)
      if rank == 0 then
         torch.save(path, {network = net, state = whole, sampler = sampler:state(), step = step,
            host = torch.getRNGState(), device = cutorch.getRNGState()})
      end
   end
end
if rank == 0 then torch.save(result, x:float()) end
distributed.barrier()
