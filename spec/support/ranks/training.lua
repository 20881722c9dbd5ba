-- Trains networks on all ranks and, on rank 0, in one process: parameters stay the same.
-- Arguments: devices of each rank, steps. The last line of rank 0 is the number of networks that
-- agreed.
local dpt = require 'dpt'
local distributed = require 'dpt.distributed'
local buckets = require 'dpt.parallel.params.buckets'
local examples = require 'spec.support.examples'
local rank, size = distributed.rank(), distributed.size()
local devices, steps = tonumber(arg[1]), tonumber(arg[2])
buckets.first, buckets.rest = 100, 400 -- bytes: several in each network

local g = torch.Generator()

-- Returns the rows of each rank in a step: random, sometimes 0; alike: the same on all ranks.
local function counts(alike)
   local list, before, total = {}, 0, 0
   for r = 1, size do
      list[r] = alike and 4 or torch.random(g, 0, 5)
      if r == 1 and list[r] == 0 then list[r] = 3 end
      if r <= rank then before = before + list[r] end
      total = total + list[r]
   end
   return list[rank + 1], before, total
end

local function rows(t, dim, before, count)
   if count > 0 then return t:narrow(dim, before + 1, count) end
   local sizes = t:size():totable()
   sizes[dim] = 0
   return t.new(unpack(sizes))
end

local function classes(n, most)
   local t = torch.Tensor(n)
   for i = 1, n do t[i] = torch.random(g, 1, most) end
   return t:cuda()
end

-- A network that uses one branch at a time: gradients of the others are unchanged.
local Turns, parent = torch.class('Turns', 'nn.Container')
function Turns:__init()
   parent.__init(self)
   self:add(nn.Linear(6, 5)):add(nn.Linear(6, 5)):add(nn.Linear(6, 5))
end
function Turns:branch() return self.modules[self.turn or 1] end
function Turns:updateOutput(input)
   self.output = self:branch():updateOutput(input)
   return self.output
end
function Turns:updateGradInput(input, gradOutput)
   self.gradInput = self:branch():updateGradInput(input, gradOutput)
   return self.gradInput
end
function Turns:accGradParameters(input, gradOutput, scale)
   self:branch():accGradParameters(input, gradOutput, scale)
end

local function images(n) return torch.rand(g, n, 6):cuda() end

-- name, network, criterion, inputs(n), targets(n), alike
local cases = {}
function cases.mlp()
   return nn.Sequential():add(nn.Linear(6, 12)):add(nn.Tanh()):add(nn.Dropout(0.3))
      :add(nn.Linear(12, 8)):add(nn.ReLU()):add(nn.Linear(8, 3)):add(nn.LogSoftMax()),
      nn.ClassNLLCriterion(torch.Tensor{1, 2, 0.5}), images, function(n) return classes(n, 3) end
end
function cases.convolution()
   return nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3)):add(nn.ReLU())
      :add(nn.SpatialDropout(0.2)):add(nn.SpatialMaxPooling(2, 2, 2, 2))
      :add(nn.View(-1):setNumInputDims(3))      :add(nn.Linear(16, 2)), nn.MSECriterion(),
      function(n) return torch.rand(g, n, 2, 6, 6):cuda() end,
      function(n) return torch.rand(g, n, 2):cuda() end
end
function cases.normalized()
   local net = nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3))
      :add(nn.SpatialBatchNormalization(4)):add(nn.ReLU()):add(nn.View(-1):setNumInputDims(3))
      :add(nn.Linear(64, 5)):add(nn.BatchNormalization(5)):add(nn.Linear(5, 3)):add(nn.LogSoftMax())
   return net, nn.ClassNLLCriterion(torch.Tensor{1, 3, 0.5}),
      function(n) return torch.rand(g, n, 2, 6, 6):cuda() end, function(n) return classes(n, 3) end
end
function cases.sum()
   return nn.Sequential():add(nn.Linear(6, 4)):add(nn.Sigmoid()):add(nn.Linear(4, 3))
      :add(nn.LogSoftMax()), nn.ClassNLLCriterion(nil, false), images,
      function(n) return classes(n, 3) end
end
function cases.words()
   local encoder, decoder = nn.Embedding(9, 4), nn.Linear(4, 9, false)
   decoder:share(encoder, 'weight', 'gradWeight')
   return nn.Sequential():add(encoder):add(nn.View(-1):setNumInputDims(2))
      :add(nn.Linear(12, 4)):add(nn.Tanh()):add(decoder):add(nn.LogSoftMax()),
      nn.ClassNLLCriterion(), function(n) return classes(n * 3, 9):view(n, 3) end,
      function(n) return classes(n, 9) end
end
function cases.limited()
   return nn.Sequential():add(nn.LookupTable(9, 4, 0, 0.5, 2)):add(nn.View(-1):setNumInputDims(2))
      :add(nn.Linear(12, 9)):add(nn.LogSoftMax()), nn.ClassNLLCriterion(),
      function(n) return classes(n * 3, 9):view(n, 3) end, function(n) return classes(n, 9) end
end
function cases.branches()
   return nn.Sequential():add(Turns.new()):add(nn.Linear(5, 2)), nn.MSECriterion(), images,
      function(n) return torch.rand(g, n, 2):cuda() end, nil, function(net, step)
         net:findModules('Turns')[1].turn = step % 3 == 0 and 2 or 1 -- 3 is never used
      end
end
function cases.recurrent()
   return nn.Sequential():add(nn.LookupTable(9, 5)):add(nn.Transpose({1, 2})):add(nn.SeqLSTM(5, 6))
      :add(nn.Select(1, 4)):add(nn.Linear(6, 9)):add(nn.LogSoftMax()), nn.ClassNLLCriterion(),
      function(n) return classes(n * 4, 9):view(n, 4) end, function(n) return classes(n, 9) end
end

function cases.digits()
   return examples.digits(), nn.ClassNLLCriterion(),
      function(n) return torch.rand(g, n, 1, 8, 8):cuda() end,
      function(n) return classes(n, 10) end
end
function cases.char_lm()
   return examples.char_lm(), nn.SpatialClassNLLCriterion(),
      function(n) return classes(n * 4, 9):view(n, 4) end,
      function(n) return classes(n * 4, 9):view(n, 1, 4) end
end

-- Trains one network, in this process alone and on all ranks.
local function train(name, make, number)
   torch.manualSeed(11)
   local net, criterion, inputs, targets, alike, each = make()
   -- normalization of small batches amplifies rounding errors of floats beyond the tolerance
   local kind = name == 'normalized' and 'torch.CudaDoubleTensor' or 'torch.CudaTensor'
   net, criterion = net:type(kind), criterion:type(kind)
   local alone, loss = net:clone(), criterion:clone()
   if name == 'normalized' then net = nn.SyncBatchNormalization.convert(net) end
   if devices > 1 then
      local list = {}
      for i = 1, devices do list[i] = i end
      -- every third network uses threads, every second one leaves outputs on their devices
      local apart = number % 2 == 0
      net = nn.DataParallelTable(1, true, false, {gather = not apart}):add(net, list)
      net:type(kind)
      if number % 3 == 0 then net:threads() end
      if apart then criterion = nn.DataParallelCriterion(criterion) end
   end
   local inner = devices > 1 and net:get(1) or net
   net = nn.DistributedDataParallel(net)
   local x, dx = net:getParameters()
   local px, pdx = alone:getParameters()
   local state, own = {}, {}
   local config = {learningRate = 0.1, momentum = 0.5, weightDecay = 1e-3}
   torch.manualSeed(g, 7)
   cutorch.manualSeedAll(3)
   for step = 1, steps do
      local count, before, total = counts(alike)
      local input, target = inputs(total):type(kind), targets(total)
      local a, b = rows(input, 1, before, count), rows(target, 1, before, count)
      if each then
         each(inner, step)
         each(alone, step)
      end
      local random = cutorch.getRNGState(1)
      local value = dpt.optim.sgd(function()
         alone:zeroGradParameters()
         local value = loss:forward(alone:forward(input), target)
         alone:backward(input, loss:backward(alone.output, target))
         return value, pdx
      end, px, config, own)
      cutorch.setRNGState(random, 1)
      dpt.optim.sgd(function()
         net:zeroGradParameters()
         criterion:forward(net:forward(a), b)
         net:backward(a, criterion:backward(net.output, b))
         return 0, dx
      end, x, config, state)
      local off = (x - px):abs():max()
      if off >= 1e-5 or off ~= off then
         error(('%s on rank %d of %d x %d, step %d: off by %g'):format(name, rank, size, devices,
            step, off))
      end
      assert(value == value)
      if name == 'limited' and step % 3 == 0 then -- an evaluation by one rank alone changes nothing
         net:evaluate()
         if rank == 0 then net:forward(inputs(4):fill(3)) else inputs(4) end
         net:training()
      end
   end
end

local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)
for number, name in ipairs(names) do train(name, cases[name], number) end
if rank == 0 then print(#names .. ' networks agree') end
