--- bench loader: the part of batch preparation that distributed.loader overlaps with training
--
-- Times epochs of the same training three ways, in turn: the batch is already on the device; it
-- comes from a loader of two threads; the script's own thread makes it before the step. A batch is
-- made as in image scripts: rows of a data set of bytes, a random crop, half of them mirrored,
-- random brightness and contrast, noise, normalised floats.
--
-- Invariant: the device, the script and each thread of the loader compute with one thread, so that
-- of two cores one runs the step and one makes batches; a step ends when the device has completed
-- it.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, hidden, networks = require 'frame', require 'hidden', require 'networks'
local dpt = require 'dpt'
local distributed = require 'dpt.distributed'

-- One host device per core: device 1 computes with one thread.
dpt.setDevices('host:' .. math.max(2, require('dpt.ffi').C.dpt_cores()))
torch.setdefaulttensortype 'torch.FloatTensor'
torch.setnumthreads(1)
torch.manualSeed(1)
local N, BATCH, SIZE, CROP, THREADS, ROUNDS = 2560, 32, 40, 32, 2, 9

local images, classes = torch.ByteTensor(N, 3, SIZE, SIZE):random(0, 255),
   torch.ByteTensor(N):random(1, 10)
local mirrored = torch.range(CROP, 1, -1):long()

local function make(rows)
   local whole = images:index(1, rows)
   local input = torch.FloatTensor(rows:nElement(), 3, CROP, CROP)
   for i = 1, rows:nElement() do
      local y, x = torch.random(SIZE - CROP + 1), torch.random(SIZE - CROP + 1)
      local crop = whole[i]:narrow(2, y, CROP):narrow(3, x, CROP)
      local picture = input[i]:copy(torch.random(2) == 1 and crop:index(3, mirrored) or crop)
      local mean = picture:mean()
      picture:add(-mean):mul(torch.uniform(0.6, 1.4)):add(mean * torch.uniform(0.6, 1.4))
      picture:add(torch.FloatTensor(3, CROP, CROP):normal(0, 4))
   end
   for plane, mean in ipairs{125, 123, 114} do input:select(2, plane):add(-mean):div(63) end
   return input, classes:index(1, rows):float()
end

local net = networks['VGG-like']():cuda()
local train = networks.training(net, {learningRate = 0.01})

local function step(input, target)
   train(input, target)
   cutorch.synchronizeAll()
end

local function sampler() return distributed.sampler(N, {batch = BATCH, seed = 1}) end
local rows, loader = sampler(), distributed.loader(sampler(), make, {threads = THREADS})
local input, target = make(torch.range(1, BATCH):long())
input, target = input:cuda(), target:cuda()

local ready, beside, before = frame.alternate(ROUNDS, function()
   for _ = 1, N / BATCH do step(input, target) end
end, function()
   for x, y in loader:epoch() do step(x, y) end
end, function()
   for indices in rows:epoch() do
      local x, y = make(indices)
      step(x:cuda(), y:cuda())
   end
end)
loader:close()

local share = hidden.share(ready, beside, before)
frame.head(('an epoch of %d steps of a VGG-like net, batch %d, one thread; median of %d rounds')
   :format(N / BATCH, BATCH, ROUNDS))
local function row(name, seconds)
   local each = BATCH / N * 1e3
   return {name, ('%.2f'):format(seconds * each), ('%.2f'):format((seconds - ready) * each)}
end
frame.rows{{'the batch', 'ms a step', 'ms of it exposed'}, row('is there', ready),
   row(('comes from %d threads'):format(THREADS), beside), row('is made before the step', before)}
frame.finish{{'loader', ('%.3f of the time of batches hidden'):format(share), 'at least 0.95',
   share >= 0.95}}
