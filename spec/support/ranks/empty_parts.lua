-- Tests a rank without rows whose tensors are copied: to replicas that have never had rows, and for
-- the call that finds out whether a script's module heeds its scale. Rank 0 has no rows; it prints
-- the name of each test that ended with the gradients of the others' rows.
require 'dpt'
local distributed = require 'dpt.distributed'
local rank = distributed.rank()
local rows = rank == 0 and 0 or 4

-- input and gradOutput are ones: each element of a gradient is the number of a rank's rows.
local function train(name, net, input, gradOutput)
   net:zeroGradParameters()
   net:forward(input)
   net:backward(input, gradOutput)
   local _, gradients = net:getParameters()
   local off = (gradients:double() - rows):abs():max()
   if rank > 0 then assert(off < 1e-5, ('%s: off by %g'):format(name, off)) end
   local sum = torch.DoubleTensor{gradients:sum()}
   distributed.broadcast(sum, 1)
   assert(gradients:sum() == sum[1], name .. ': ranks differ')
   if rank == 0 then print(name .. ' holds') end
end

local function linear() return nn.Linear(3, 2) end

local table_ = nn.Sequential():add(nn.ParallelTable():add(linear()):add(linear()))
   :add(nn.CAddTable()):cuda()
local devices = nn.DataParallelTable(1, true):add(table_, {1, 2})
train('a table of inputs', nn.DistributedDataParallel(devices),
   {torch.CudaTensor(rows, 3):fill(1), torch.CudaTensor(rows, 3):fill(1)},
   torch.CudaTensor(rows, 2):fill(1))

local My, parent = torch.class('nn.My', 'nn.Linear')
function My:accGradParameters(...) parent.accGradParameters(self, ...) end
train('a module of a script', nn.DistributedDataParallel(nn.My(3, 2)), torch.ones(rows, 3),
   torch.ones(rows, 2))
