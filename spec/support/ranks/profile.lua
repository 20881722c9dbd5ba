-- Profiles a step of nn.DistributedDataParallel on two ranks, into a file each.
require 'dpt'
local profiler = require('dpt').profiler
local net = nn.DistributedDataParallel(nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):cuda())
local input = torch.CudaTensor(2, 4):fill(1)
local function step() net:backward(input, net:forward(input)) end
step()
profiler.start()
step()
profiler.stop(arg[1])
