-- Trains nn.MixedPrecision inside nn.DistributedDataParallel, on host tensors, on a device and on
-- two devices, with gradients summed in float and, with a loss scaler that skips a step, as
-- bfloat16, and with an accumulated step (noSync); rank 0 prints for each case the bytes of
-- gradients of a step and whether the parameters are near those of one process.
require 'dpt'
local distributed = require('dpt').distributed
local rank, ranks = distributed.rank(), distributed.size()

local function network()
   torch.manualSeed(1)
   return nn.Sequential():add(nn.Linear(6, 8)):add(nn.LayerNorm(8)):add(nn.ReLU(true))
      :add(nn.Linear(8, 3)):add(nn.LogSoftMax())
end

torch.manualSeed(2)
local inputs, targets = torch.randn(3, 8, 6), torch.LongTensor(3, 8):random(1, 3)

local function train(net, typename, first, count, isScaled)
   local criterion = nn.ClassNLLCriterion():type(typename)
   local x, g = net:getParameters()
   local scaler = isScaled and optim.LossScaler{scale = 2 ^ 10} or nil
   local config = {learningRate = 0.05, scaler = scaler}
   local method = net.noSync and optim.ZeroRedundancyOptimizer(optim.adam) or optim.adam
   for step = 1, 3 do
      local function pass(from)
         local input = inputs[from]:narrow(1, first, count):type(typename)
         local target = targets[from]:narrow(1, first, count):type(typename)
         criterion:forward(net:forward(input), target)
         local gradOutput = criterion:backward(net.output, target)
         net:backward(input, scaler and scaler:scale(gradOutput) or gradOutput)
      end
      method(function()
         net:zeroGradParameters()
         if step == 2 then
            if net.noSync then net:noSync(pass, 3) else pass(3) end
         end
         pass(step)
         if scaler and step == 3 then scaler:unscale(g) end
         if not scaler or step == 3 then nn.utils.clipGradNorm(net, 0.5) end
         return 0, g
      end, x, config)
      if scaler and step == 2 then -- skipped on all ranks, though only the last one's part is bad
         method(function()
            g:zero()
            g[g:nElement()] = 1 / 0
            return 0, g
         end, x, config)
      end
   end
   assert(not scaler or scaler:skipped() == 1 and scaler:getScale() == 2 ^ 9)
   return x
end

for _, case in ipairs{{'host', 'torch.FloatTensor'}, {'device', 'torch.CudaTensor'},
   {'devices', 'torch.CudaTensor', {1, 2}}} do
   for _, hook in ipairs{'float', 'bfloat16'} do
      local name, typename, devices = unpack(case, 1, 3)
      local inner = nn.MixedPrecision(network():type(typename), 'bfloat16')
      local net = devices and nn.DataParallelTable(1, true):add(inner, devices) or inner
      net = nn.DistributedDataParallel(net, hook ~= 'float' and {hook = hook} or nil)
      local isScaled = hook ~= 'float'
      local x = train(net, typename, 1 + 8 / ranks * rank, 8 / ranks, isScaled)
      net:forward(inputs[1]:type(typename)) -- updates the 16-bit weights
      net:checkAlike()
      for i, t in ipairs(inner:workingParameters()) do
         assert(inner:parameters()[i]:type(t:type()):ne(t):sum() == 0)
      end
      local alone = nn.MixedPrecision(network():type(typename), 'bfloat16')
      local distance = rank == 0 and (train(alone, typename, 1, 8, isScaled) - x):abs():max() or 0
      distributed.barrier()
      if rank == 0 then
         print(name, hook, net.sentBytes.gradients / 3 / x:nElement(), distance < 0.02)
      end
   end
end
