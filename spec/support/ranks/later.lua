-- What a script changes in a network that is wrapped already: each of `checks` on all ranks. Rank 0
-- prints the name of each that all have passed. With several devices the network is in an
-- nn.DataParallelTable.
require 'dpt'
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank = distributed.rank()

local devices = torch.range(1, cutorch.getDeviceCount()):totable()
local double = #devices > 1 and 'torch.CudaDoubleTensor' or 'torch.DoubleTensor'

-- The network, and the same one wrapped.
local function wrapped(net)
   net = net:type(double)
   local inner = #devices > 1 and nn.DataParallelTable(1):add(net, devices) or net
   return net, nn.DistributedDataParallel(inner)
end

local rows = 2 * rank + 2 -- so that gradients count differently
local x = torch.ones(rows, 3):type(double)

local function step(all)
   all:zeroGradParameters()
   all:forward(x)
   all:backward(x, all.output:clone():fill(1))
end

local checks = {}

-- A late freeze stays, and so does another method; one that ignores its scale counts as much.
function checks.methods()
   local net, all = wrapped(nn.Sequential():add(nn.Linear(3, 2)))
   local layer = net:get(1)
   step(all)
   local gradient = layer.gradBias[1]
   assert(gradient ~= 0)
   for factor, method in pairs{[0] = function() end, [2] = function(self, input, gradOutput, scale)
      nn.Linear.accGradParameters(self, input, gradOutput, 2 * scale)
   end} do
      layer.accGradParameters = method
      for _ = 1, 2 do
         step(all)
         assert(layer.accGradParameters == method)
         assert(math.abs(layer.gradBias[1] - factor * gradient) < 1e-12, layer.gradBias[1])
      end
   end
   for _, method in ipairs{false, function(self, input, gradOutput) -- without the argument scale
      nn.Linear.accGradParameters(self, input, gradOutput)
   end} do
      layer.accGradParameters = method or nil
      step(all)
      assert(math.abs(layer.gradBias[1] - gradient) < 1e-12)
   end
end

-- Layers that are added are rank 0's.
function checks.added()
   local net, all = wrapped(nn.Sequential():add(nn.Linear(3, 3)))
   step(all)
   torch.manualSeed(10 + rank)
   net:add(nn.Linear(3, 3):type(double))
   torch.manualSeed(3)
   for _ = 1, 2 do
      step(all)
      all:updateParameters(0.1)
   end
   local sum = 0
   for _, t in ipairs((net:parameters())) do sum = sum + t:sum() end
   for _, other in ipairs(distributed.allGatherValue(sum)) do assert(other == sum) end
   net:add((rank == 0 and nn.Add(3) or nn.CMul(3)):type(double))
   raises('ranks differ: rank 1 has module', step, all)
end

-- Without parameters a network is where it makes its output.
function checks.dropout()
   local net = nn.Sequential():add(nn.Dropout(0.5)):cuda()
   local input, first = torch.CudaTensor(4 * distributed.size(), 4):fill(1), 4 * rank + 1
   cutorch.manualSeed(5)
   local whole = net:clone():forward(input)
   cutorch.manualSeed(5)
   local part = nn.DistributedDataParallel(net):forward(input:narrow(1, first, 4))
   assert(torch.equal(whole:narrow(1, first, 4):float(), part:float()))
end

for _, name in ipairs{'methods', 'added', 'dropout'} do
   torch.manualSeed(3)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
