-- Compares nn.Recompute inside nn.DistributedDataParallel with the network without it, on host
-- tensors, on a device and on two devices; rank 0 prints the networks that agree on all ranks.
require 'dpt'
local recompute = require 'spec.support.recompute'
local rank = require('dpt').distributed.rank()

for _, case in ipairs{{'host', 'torch.DoubleTensor'}, {'device', 'torch.CudaTensor'},
   {'devices', 'torch.CudaTensor', {1, 2}}} do
   for _, normalization in ipairs{'BatchNormalization', 'SyncBatchNormalization'} do
      local name, typename, devices = unpack(case, 1, 3)
      torch.manualSeed(1)
      local nets = {recompute.pair(recompute.network(normalization), typename, 2, 3, 4)}
      for k = 1, 2 do
         if devices then nets[k] = nn.DataParallelTable(1, true):add(nets[k], devices) end
         nets[k] = nn.DistributedDataParallel(nets[k])
         nets[k]:getParameters()
      end
      recompute.train(nets[1], nets[2], 3, function(step)
         torch.manualSeed(10 * step)
         local rows = step == 3 and rank + 2 or 4 -- in step 3 ranks have different numbers
         return torch.randn(2, 5, 6)[rank + 1]:narrow(1, 1, rows):type(typename)
      end)
      if rank == 0 then print(name, normalization) end
   end
end
