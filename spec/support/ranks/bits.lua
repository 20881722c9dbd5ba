-- Trains networks in deterministic mode with equal parts on ranks x devices; rank 0 prints the bits
-- of each. Arguments: devices of each rank, steps.
local dpt = require 'dpt'
local distributed = require 'dpt.distributed'
local buckets = require 'dpt.parallel.params.buckets'
local examples = require 'spec.support.examples'
local rank, size = distributed.rank(), distributed.size()
local devices, steps = tonumber(arg[1]), tonumber(arg[2])
buckets.first, buckets.rest = 100, 400 -- bytes: several in each network
dpt.setDeterministic(true)

local TOTAL = 24
local g = torch.Generator()

local function classes(most, ...)
   return torch.rand(g, ...):mul(most):floor():add(1):cuda()
end

local cases = {
   {'mlp', function()
      return nn.Sequential():add(nn.Linear(6, 12)):add(nn.Tanh()):add(nn.Dropout(0.3))
         :add(nn.Linear(12, 3)):add(nn.LogSoftMax()), nn.ClassNLLCriterion(),
         function() return torch.randn(g, TOTAL, 6):cuda(), classes(3, TOTAL) end
   end},
   {'convolution', function()
      return nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3)):add(nn.ReLU())
         :add(nn.SpatialMaxPooling(2, 2, 2, 2)):add(nn.View(-1):setNumInputDims(3))
         :add(nn.Linear(16, 2)), nn.MSECriterion(), function()
         return torch.rand(g, TOTAL, 2, 6, 6):cuda(), torch.rand(g, TOTAL, 2):cuda()
      end
   end},
   {'normalized', function()
      return nn.Sequential():add(nn.Linear(6, 8)):add(nn.SyncBatchNormalization(8)):add(nn.Tanh())
         :add(nn.Linear(8, 3)):add(nn.LogSoftMax()), nn.ClassNLLCriterion(),
         function() return torch.randn(g, TOTAL, 6):cuda(), classes(3, TOTAL) end
   end},
   {'words', function()
      return nn.Sequential():add(nn.LookupTable(9, 5)):add(nn.Transpose({1, 2}))
         :add(nn.SeqLSTM(5, 6)):add(nn.Select(1, 4)):add(nn.Linear(6, 9)):add(nn.LogSoftMax()),
         nn.ClassNLLCriterion(), function() return classes(9, TOTAL, 4), classes(9, TOTAL) end
   end},
   {'digits', function()
      return examples.digits(), nn.ClassNLLCriterion(),
         function() return torch.rand(g, TOTAL, 1, 8, 8):cuda(), classes(10, TOTAL) end
   end},
   {'char_lm', function()
      return examples.char_lm(), nn.SpatialClassNLLCriterion(),
         function() return classes(9, TOTAL, 4), classes(9, TOTAL, 1, 4) end
   end},
}

for _, case in ipairs(cases) do
   torch.manualSeed(11)
   local net, criterion, batch = case[2]()
   net, criterion = net:cuda(), criterion:cuda()
   if devices > 1 then
      local list = {}
      for i = 1, devices do list[i] = i end
      net = nn.DataParallelTable(1, true):add(net, list)
   end
   net = nn.DistributedDataParallel(net)
   local x, dx = net:getParameters()
   local config, state = {learningRate = 0.1, momentum = 0.5, weightDecay = 1e-3}, {}
   torch.manualSeed(g, 7)
   cutorch.manualSeedAll(3)
   for _ = 1, steps do
      local input, target = batch()
      local n = TOTAL / size
      input, target = input:narrow(1, rank * n + 1, n), target:narrow(1, rank * n + 1, n)
      dpt.optim.sgd(function()
         net:zeroGradParameters()
         criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return 0, dx
      end, x, config, state)
   end
   local bits = {}
   for i, value in ipairs(x:float():totable()) do bits[i] = ('%a'):format(value) end
   if rank == 0 then print(case[1] .. ' has ' .. table.concat(bits, ' ')) end
end
