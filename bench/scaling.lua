--- bench scaling: how much faster two host devices train than one, with one thread each.
--
-- A convolutional network whose layers fill a core takes training steps (forward, loss, backward,
-- update) on a batch of 64 images, in turns on device 1 alone and on devices 1 and 2 through
-- nn.DataParallelTable. There are as many host devices as cores, so each has one thread.
local dpt = require 'dpt'
local torch, nn, cutorch, sys = dpt.torch, dpt.nn, dpt.cutorch, dpt.sys

local TARGET, ROUNDS, STEPS, ROWS = 1.7, 9, 4, 64
local cores = tonumber(io.popen('nproc'):read('*l')) or 2
if not os.getenv('DPT_DEVICES') then dpt.setDevices('host:' .. math.max(cores, 2)) end

local function network()
   return nn.Sequential()
      :add(nn.SpatialConvolution(3, 32, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
      :add(nn.SpatialConvolution(32, 32, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
      :add(nn.SpatialMaxPooling(2, 2))
      :add(nn.SpatialConvolution(32, 64, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
      :add(nn.SpatialMaxPooling(2, 2)):add(nn.View(4096):setNumInputDims(3))
      :add(nn.Linear(4096, 128)):add(nn.ReLU(true)):add(nn.Linear(128, 10)):add(nn.LogSoftMax())
      :cuda()
end

-- A function that takes STEPS training steps on the devices and gives the seconds they took.
local function trainer(devices)
   local net = nn.DataParallelTable(1, true):add(network(), devices)
   local criterion = nn.ClassNLLCriterion():cuda()
   local parameters, gradients = net:getParameters()
   local images, classes = torch.randn(ROWS, 3, 32, 32):cuda(), torch.CudaTensor(ROWS):fill(3)
   return function()
      local begun = sys.clock()
      for _ = 1, STEPS do
         net:zeroGradParameters()
         criterion:forward(net:forward(images), classes)
         net:backward(images, criterion:backward(net.output, classes))
         parameters:add(-0.01, gradients)
      end
      cutorch.synchronizeAll()
      return sys.clock() - begun
   end
end

torch.manualSeed(1)
local one, two = trainer{1}, trainer{1, 2}
for _ = 1, 2 do one() two() end -- memory, kernels and compiled Lua are there afterwards
local ratios = {}
print('round   one device   two devices   ratio      (ms a step)')
for round = 1, ROUNDS do
   local alone, both = one(), two()
   ratios[round] = alone / both
   print(('%5d %12.1f %13.1f %7.2f'):format(round, 1e3 * alone / STEPS, 1e3 * both / STEPS,
      ratios[round]))
end
table.sort(ratios)
local median = ratios[(ROUNDS + 1) / 2]
if cores < 2 then print('this machine has one core: two devices cannot work at once') end
local ok = median >= TARGET
print(('scaling: %.2f (target %.1f) %s'):format(median, TARGET, ok and 'ok' or 'short'))
os.exit(ok and 0 or 1)
