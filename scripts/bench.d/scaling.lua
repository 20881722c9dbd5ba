--- bench scaling: training on two host devices against one, and against two processes
--
-- Invariant: each device computes with one thread. With the argument `alone` this file runs as one
-- of the two processes: it trains on half of the batch for some seconds, and prints images per
-- second.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, networks = require 'frame', require 'networks'
local dpt = require 'dpt'

-- One host device per core: each computes with one thread, also if only device 1 is used.
dpt.setDevices('host:' .. math.max(2, require('dpt.ffi').C.dpt_cores()))
torch.setdefaulttensortype 'torch.FloatTensor'
local batch, SECONDS = 64, 2

local function network()
   torch.manualSeed(1)
   local net, count = networks.features(64)
   return net:add(nn.Linear(count, 10)):add(nn.LogSoftMax()):cuda()
end

--- Returns a function that trains `net` one step and waits until all devices are done.
local function trainer(net, batch)
   local input = torch.FloatTensor(batch, 3, 32, 32):uniform(-1, 1):cuda()
   local target = torch.FloatTensor(batch):random(1, 10):cuda()
   local step = networks.training(net, {learningRate = 0.01, momentum = 0.9})
   return function()
      step(input, target)
      cutorch.synchronizeAll()
   end
end

-- Returns images per second of a function that trains on `images` per step.
local function rate(step, images)
   for _ = 1, 3 do step() end
   local steps, seconds = 0, 0
   while seconds < SECONDS do steps, seconds = steps + 1, seconds + frame.time(step) end
   return images * steps / seconds
end

if arg[1] == 'alone' then
   print(rate(trainer(network(), batch / 2), batch / 2))
   os.exit(0)
end

-- Returns images per second of two independent processes.
local function apart()
   local command = ("'%s../dpt' '%s' alone"):format(arg[0]:gsub('[^/]*$', ''), arg[0])
   local pipes, sum = {io.popen(command), io.popen(command)}, 0
   for _, pipe in ipairs(pipes) do
      sum = sum + pipe:read '*n'
      pipe:close()
   end
   return sum
end

local one = trainer(network(), batch)
local two = trainer(nn.DataParallelTable(1, true):add(network(), {1, 2}), batch)
local single, double = frame.alternate(9, one, two)
local processes, devices = {}, {}
for round = 1, 5 do processes[round], devices[round] = apart(), rate(two, batch) end
local independent = frame.median(processes)
local shared = frame.median(devices) / independent
frame.head(('one step of a convolutional net, batch %d, median of 9 rounds'):format(batch))
frame.rows{
   {'', 'ms a step', 'images/s'},
   {'one host device, one thread', ('%.1f'):format(single * 1e3), ('%.0f'):format(batch / single)},
   {'two host devices', ('%.1f'):format(double * 1e3), ('%.0f'):format(batch / double)},
   {'two processes, half of the batch each', '', ('%.0f'):format(independent)},
}
frame.finish{
   {'scaling', ('%.2f times'):format(single / double), 'at least 1.7 times',
      single / double >= 1.7},
   {'scaling against processes', ('%.2f times'):format(shared), 'at least 0.95 times',
      shared >= 0.95},
}
