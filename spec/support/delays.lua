--- Trains small networks in several ways on all devices and prints a digest of the bits of each
-- result: runs with and without DPT_DELAY must print the same.
-- usage: luajit spec/support/delays.lua
local dpt = require 'dpt'
local torch, nn, cutorch, optim, comm = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim, dpt.comm
local ffi = require 'ffi'
torch.setdefaulttensortype 'torch.FloatTensor'
dpt.setDeterministic(true) -- libraries must not choose algorithms by measurements
local n = cutorch.getDeviceCount()
local devices = {}
for i = 1, n do devices[i] = i end

-- Returns the FNV-1a hash of the bytes of a tensor's floats.
local function digest(t)
   t = t:float():contiguous()
   local bytes = ffi.cast('uint8_t *', torch.data(t))
   local h = ffi.cast('uint64_t', 0xcbf29ce484222325ULL)
   for i = 0, t:nElement() * 4 - 1 do
      h = bit.bxor(h, ffi.cast('uint64_t', bytes[i])) * 0x100000001b3ULL
   end
   return bit.tohex(h)
end

local function seed()
   torch.manualSeed(1)
   cutorch.manualSeedAll(2)
end

local function network()
   return nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3))
      :add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
      :add(nn.View(-1):setNumInputDims(3)):add(nn.Dropout(0.3))
      :add(nn.Linear(4 * 6 * 6, 40)):add(nn.Tanh()):add(nn.Linear(40, 5)):add(nn.LogSoftMax())
end

-- Trains ten steps and prints the losses and the final parameters.
local function train(name, wrap)
   seed()
   local net = wrap(network():cuda())
   local criterion = nn.ClassNLLCriterion():cuda()
   local images = torch.CudaTensor(23, 2, 8, 8):normal()
   local classes = torch.range(1, 23):remainder(5):add(1):cuda()
   local x, dx = net:getParameters()
   local losses, config = {}, {learningRate = 0.05, momentum = 0.9, weightDecay = 1e-3}
   for i = 1, 10 do
      local _, f = optim.sgd(function()
         net:zeroGradParameters()
         local output = net:forward(images)
         local loss = criterion:forward(output, classes)
         net:backward(images, criterion:backward(output, classes))
         return loss, dx
      end, x, config)
      losses[i] = f[1]
      if i == 5 then collectgarbage() end
   end
   print(name, digest(x), digest(torch.FloatTensor(losses)))
end

local function parallel(options, threads)
   return function(net)
      local table = nn.DataParallelTable(1, true, false, options):add(net, devices)
      return threads and table:threads() or table
   end
end
train('one device', function(net) return net end)
train('parallel', parallel())
train('threads', parallel(nil, true))
train('not flat', function(net) return nn.DataParallelTable(1):add(net, devices) end)

-- Sums and copies over all devices in a chain, with memory that is freed at once.
seed()
local list = {}
for i = 1, n do
   list[i] = cutorch.withDevice(i, function() return torch.CudaTensor(1000):uniform() end)
end
for i = 1, 40 do
   local sum = comm.reduceAdd(list)
   local copies = comm.broadcast(sum, devices)
   for k = 1, n do
      cutorch.withDevice(k, function()
         list[k] = copies[k]:clone():mul(1 / n):add(k * i, list[k]):div(i)
      end)
   end
end
print('sums', digest(list[1]), digest(list[n]))

-- Streams of one device wait for each other; each has temporary tensors.
seed()
cutorch.reserveStreams(3, true)
local x = torch.CudaTensor(500):uniform()
for i = 0, 39 do
   local from, to = i % 4, (i + 1) % 4
   cutorch.setStream(from)
   x = x:clone():add(1 / (i + 1))
   cutorch.streamWaitFor(to, {from})
   cutorch.setStream(to)
   x = torch.cmul(x, x):sqrt()
end
cutorch.setDefaultStream()
print('streams', digest(x))

-- Replays a captured step.
seed()
local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Dropout(0.5)):cuda()
local a = torch.CudaTensor(4, 6):uniform()
local function step() a:add(0.1, net:forward(a)) end
step()
local replay = cutorch.graph(step)
for _ = 1, 10 do replay() end
print('graph', digest(a))
