--- bench gpu: a GPU's operations and training steps against PyTorch on the same GPU
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
require 'dpt'
local C = require('dpt.ffi').C
local here = arg[0]:gsub('[^/]*$', '')

-- --small: tiny sizes, on whatever the devices are: shows that this file runs.
local small = arg[1] == '--small'
local sizes = small
   and {n = 10000, gemm = 64, batch = 4, plane = 8, steps = 3, hidden = 8, time = 4, net = 4}
   or {n = 100000000, gemm = 4096, batch = 64, plane = 56, steps = 200, hidden = 512, time = 64,
      net = 256}
if cutorch.getDeviceCount() < 1 then
   print('bench gpu: there is no device')
   os.exit(1)
end
local unit = cutorch.getDeviceProperties(1)
torch.setdefaulttensortype 'torch.FloatTensor'
cutorch.setDevice(1)
cudnn.benchmark = true

local function cuda(...) return torch.FloatTensor(...):uniform(-1, 1):cuda() end

--- The best seconds of one call of f among five rounds of `count` calls. The host is allowed to
-- run ahead within a round, as in training.
local function seconds(f, count)
   for _ = 1, 3 do f() end
   cutorch.synchronize()
   local best = math.huge
   for _ = 1, 5 do
      best = math.min(best, frame.time(function()
         for _ = 1, count do f() end
         cutorch.synchronize()
      end) / count)
   end
   return best
end

--- One training step by optim.sgd, and what it counts.
local function trainer(net, criterion, input, target)
   local params, grads = net:getParameters()
   local state = {learningRate = 1e-3, momentum = 0.9, dampening = 0}
   local function feval()
      grads:zero()
      local loss = criterion:updateLoss(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      return loss, grads
   end
   return function() return optim.sgd(feval, params, state) end
end

local function mlp()
   local net = nn.Sequential()
   for _ = 1, 6 do net:add(nn.Linear(64, 64)):add(nn.ReLU(true)) end
   return net:add(nn.Linear(64, 10)):add(nn.LogSoftMax()):cuda()
end

local function convnet()
   local net, from = nn.Sequential(), 3
   for _, planes in ipairs{64, 128, 256} do
      for _ = 1, 2 do
         net:add(cudnn.SpatialConvolution(from, planes, 3, 3, 1, 1, 1, 1))
         net:add(nn.SpatialBatchNormalization(planes)):add(nn.ReLU(true))
         from = planes
      end
      net:add(nn.SpatialMaxPooling(2, 2))
   end
   return net:add(nn.View(256 * 4 * 4)):add(nn.Linear(256 * 4 * 4, 10)):add(nn.LogSoftMax()):cuda()
end

local function classes(n) return torch.FloatTensor(n):random(1, 10):cuda() end

local ours = {}

local function bandwidth()
   local a, b, r = cuda(sizes.n), cuda(sizes.n), cuda(sizes.n)
   local few = small and 2 or 20
   ours.copy = seconds(function() r:copy(a) end, few)
   ours.add = seconds(function() torch.add(r, a, 2, b) end, few)
   ours.mul = seconds(function() torch.mul(r, a, 2) end, few)
   ours.exp = seconds(function() torch.exp(r, a) end, few)
   ours.sum = seconds(function() a.sum(r, a:view(1, -1), 2) end, few)
end

local function products()
   local n = sizes.gemm
   local a, b, r = cuda(n, n), cuda(n, n), cuda(n, n)
   ours.gemm = seconds(function() r:mm(a, b) end, small and 2 or 10)
   local h, k, s = a:cudaHalf(), b:cudaHalf(), r:cudaHalf()
   ours['gemm half'] = seconds(function() s:mm(h, k) end, small and 2 or 20)
   local layer = cudnn.SpatialConvolution(64, 64, 3, 3, 1, 1, 1, 1):fastest():cuda()
   local input = cuda(sizes.batch, 64, sizes.plane, sizes.plane)
   local gradOutput = layer:forward(input):clone():fill(1)
   ours['convolution'] = seconds(function()
      layer:forward(input)
      layer:backward(input, gradOutput)
   end, small and 2 or 20)
   if cudnn.LSTM then
      local rnn = cudnn.LSTM(sizes.hidden, sizes.hidden, 1):cuda()
      local sequence = cuda(sizes.time, sizes.batch, sizes.hidden)
      local gradient = rnn:forward(sequence):clone():fill(1)
      ours.lstm = seconds(function()
         rnn:forward(sequence)
         rnn:backward(sequence, gradient)
      end, small and 2 or 20)
   end
end

--- Rows of gpu_operations.lua; one that fails prints why and costs that row alone.
local names = {}
local function operations()
   local function classes(n, count) return torch.FloatTensor(n):random(1, count):cuda() end
   for _, entry in ipairs(require 'gpu_operations'(cuda, classes, small and 1000 or 1)) do
      local name, make = unpack(entry)
      names[#names + 1] = name
      local done, message = pcall(function()
         local f, count = make()
         ours[name] = seconds(f, small and 2 or count or 20)
      end)
      if not done then print(('%s: %s'):format(name, message)) end
      collectgarbage()
      collectgarbage()
   end
end

local counted
local function steps()
   local net = mlp()
   local step = trainer(net, nn.ClassNLLCriterion():cuda(), cuda(32, 64), classes(32))
   ours['MLP step'] = seconds(step, sizes.steps)
   local waits, before = C.dpt_waits(), cutorch.memoryStats(1)
   for _ = 1, sizes.steps do step() end
   local after = cutorch.memoryStats(1)
   counted = {waits = tonumber(C.dpt_waits() - waits),
      taken = after.segments - before.segments}
   ours['MLP step, graph'] = seconds(cutorch.graph(step), sizes.steps)
   local batch, side = sizes.net, 32
   local input, target = cuda(batch, 3, side, side), classes(batch)
   ours['convnet step'] = seconds(trainer(convnet(), nn.ClassNLLCriterion():cuda(), input, target),
      small and 2 or 20)
   if cutorch.getDeviceCount() > 1 then
      local parallel = nn.DataParallelTable(1, true):add(convnet(), {1, 2})
      local step2 = trainer(parallel, nn.ClassNLLCriterion():cuda(), input, target)
      ours['convnet step on devices 1, 2'] = seconds(step2, small and 2 or 20)
   end
end

--- Seconds of a process that loads dpt and reads one number from the device.
local function startup()
   local root = here .. '../../'
   local line = ("'%sscripts/dpt' -e 'torch.CudaTensor(1):fill(1):sum()'"):format(root)
   ours['start-up'] = frame.time(function() assert(frame.succeeds(line), line) end)
end

for _, part in ipairs{bandwidth, products, operations, steps, startup} do
   part()
   collectgarbage()
   collectgarbage()
   cutorch.synchronizeAll()
end

--- PyTorch's seconds by the same names; an empty table where it is not installed.
local function peer()
   local times, version = {}, 'PyTorch is not installed: no ratios'
   local option = small and '--small' or ''
   local pipe = io.popen(("python3 '%sgpu_peer.py' %s 2>&1"):format(here, option))
   for line in pipe:lines() do
      local name, value = line:match '^(.-)\t([%d.e+-]+)$'
      if name then times[name] = tonumber(value)
      elseif line:match '^PyTorch' then version = line
      else print('peer: ' .. line) end
   end
   pipe:close()
   return times, version
end
local theirs, version = peer()

frame.head(('%s, %.1f; best of 5 rounds'):format(unit.name, unit.major + unit.minor / 10), version)
local rows = {{'', 'ms', 'PyTorch ms', 'PyTorch / dpt'}}
local order = {'copy', 'add', 'mul', 'exp', 'sum', 'gemm', 'gemm half', 'convolution', 'lstm',
   'MLP step', 'MLP step, graph', 'convnet step', 'convnet step on devices 1, 2', 'start-up'}
for _, name in ipairs(names) do order[#order + 1] = name end
for _, name in ipairs(order) do
   local mine, other = ours[name], theirs[name]
   if mine then
      rows[#rows + 1] = {name, ('%.4f'):format(mine * 1e3), other and ('%.4f'):format(other * 1e3)
         or '', other and ('%.2f'):format(other / mine) or ''}
   end
end
frame.rows(rows)

-- What the card does: bytes of its own copy in a second.
local peak = 2 * 4 * sizes.n / math.min(ours.copy, theirs.copy or math.huge)
local results = {}
local function share(name, arrays)
   local rate = arrays * 4 * sizes.n / ours[name] / peak
   results[#results + 1] = {name, ('%.0f %% of the card\'s copy bandwidth, %.0f GB/s'):format(
      100 * rate, peak / 1e9), 'at least 90 %', rate >= 0.9}
end
share('copy', 2)
share('add', 3)
share('mul', 2)
local function against(name, least, peerName)
   local other = theirs[peerName or name]
   if not other or not ours[name] then return end
   local ratio = other / ours[name]
   results[#results + 1] = {name, ('%.2f times PyTorch%s'):format(ratio,
      peerName and ' (' .. peerName .. ')' or ''), ('at least %.2f times'):format(least),
      ratio >= least}
end
against('gemm', 0.97)
against('gemm half', 0.97)
against('convolution', 0.97)
against('MLP step', 2)
against('MLP step, graph', 1)
results[#results + 1] = {'steady step', ('%d waits, %d allocations in %d steps'):format(
   counted.waits, counted.taken, sizes.steps), 'none', counted.waits + counted.taken == 0}
frame.finish(results)
