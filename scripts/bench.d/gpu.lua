--- bench gpu: a GPU's operations and training steps against PyTorch on the same GPU
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, networks = require 'frame', require 'networks'
require 'dpt'
local C = require('dpt.ffi').C
local here = arg[0]:gsub('[^/]*$', '')

-- --small: tiny sizes, on any devices, to check that this file runs.
local small = arg[1] == '--small'
local sizes = small
   and {n = 10000, gemm = 64, batch = 4, plane = 8, steps = 3, hidden = 8, time = 4, net = 4}
   or {n = 100000000, gemm = 4096, batch = 64, plane = 56, steps = 200, hidden = 512, time = 64,
      net = 256}
if cutorch.getDeviceCount() < 1 then
   print('bench gpu: no device found')
   os.exit(1)
end
local unit = cutorch.getDeviceProperties(1)
torch.setdefaulttensortype 'torch.FloatTensor'
cutorch.setDevice(1)
cudnn.benchmark = true

local function cuda(...) return torch.FloatTensor(...):uniform(-1, 1):cuda() end

--- Returns the least seconds per call of f over five rounds of `count` calls. The host may run
-- ahead within a round, as in training.
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

local function trainer(net, criterion, input, target)
   return networks.trainer(net, criterion, input, target,
      {learningRate = 1e-3, momentum = 0.9, dampening = 0})
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

local function classes(n, count) return torch.FloatTensor(n):random(1, count):cuda() end

--- One residual block of ResNet-50: 1x1, 3x3, 1x1.
local function bottleneck(before, width, stride)
   local body = nn.Sequential()
   local function add(from, to, kernel, step)
      body:add(cudnn.SpatialConvolution(from, to, kernel, kernel, step, step, (kernel - 1) / 2,
         (kernel - 1) / 2):noBias()):add(nn.SpatialBatchNormalization(to))
      return body
   end
   add(before, width, 1, 1):add(nn.ReLU(true))
   add(width, width, 3, stride):add(nn.ReLU(true))
   add(width, 4 * width, 1, 1)
   local short = nn.Identity()
   if before ~= 4 * width then
      short = nn.Sequential()
         :add(cudnn.SpatialConvolution(before, 4 * width, 1, 1, stride, stride):noBias())
         :add(nn.SpatialBatchNormalization(4 * width))
   end
   return nn.Sequential():add(nn.ConcatTable():add(body):add(short)):add(nn.CAddTable(true))
      :add(nn.ReLU(true))
end

--- Returns ResNet-50. @param side of the images; that of the last blocks is a 32nd of it
local function resnet(side)
   local net, before = nn.Sequential(), 64
   net:add(cudnn.SpatialConvolution(3, 64, 7, 7, 2, 2, 3, 3):noBias())
      :add(nn.SpatialBatchNormalization(64)):add(nn.ReLU(true))
      :add(nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1))
   for stage, count in ipairs{3, 4, 6, 3} do
      local width = 32 * 2 ^ stage
      for i = 1, count do
         net:add(bottleneck(before, width, i == 1 and stage > 1 and 2 or 1))
         before = 4 * width
      end
   end
   net:add(nn.SpatialAveragePooling(side / 32, side / 32)):add(nn.View(2048))
   return net:add(nn.Linear(2048, 10)):add(nn.LogSoftMax()):cuda()
end

local function language(words, hidden)
   return nn.Sequential():add(nn.LookupTable(words, hidden)):add(cudnn.LSTM(hidden, hidden, 2))
      :add(nn.View(-1, hidden)):add(nn.Linear(hidden, words)):add(nn.LogSoftMax()):cuda()
end

-- Returns a step of GPT-2 with 124 M parameters on 8 texts of 256 tokens.
local function gpt2(wrap)
   local words, width, depth = 50257, 768, 12 -- as many heads as layers
   if small then words, width, depth = 50, 8, 2 end
   local net = wrap(dofile(here .. '../../examples/gpt2.lua').network{vocabulary = words,
      positions = 1024, width = width, layers = depth, heads = depth}:cuda())
   local criterion, state = nn.CrossEntropyCriterion():cuda(), {learningRate = 1e-4}
   local params, grads = net:getParameters()
   local x, y = classes(8 * 256, words):view(8, 256), classes(8 * 256, words)
   local function loss()
      net:zeroGradParameters()
      local value = criterion:updateLoss(net:forward(x), y)
      net:backward(x, criterion:backward(net.output, y))
      return value, grads
   end
   return function() optim.adamw(loss, params, state) end
end

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

--- Adds the rows of gpu_operations.lua; a row that fails prints why and is left out.
local names = {}
local function operations()
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

-- Measures a step in float, with TF32, and in mixed precision.
-- @param make function(wrap): returns a step of the network wrap(net)
local function precisions(name, make)
   for _, suffix in ipairs{'', ', TF32', ', bfloat16'} do
      cutorch.setTF32(suffix == ', TF32')
      ours[name .. suffix] = seconds(make(function(net)
         return suffix == ', bfloat16' and nn.MixedPrecision(net, 'bfloat16') or net
      end), small and 1 or 3)
      cutorch.setTF32(false)
      collectgarbage()
      collectgarbage()
   end
end

local counted
local function steps()
   local net = mlp()
   local step = trainer(net, nn.ClassNLLCriterion():cuda(), cuda(32, 64), classes(32, 10))
   ours['MLP step'] = seconds(step, sizes.steps)
   local waits, before = C.dpt_waits(), cutorch.memoryStats(1)
   for _ = 1, sizes.steps do step() end
   local after = cutorch.memoryStats(1)
   counted = {waits = tonumber(C.dpt_waits() - waits),
      taken = after.segments - before.segments}
   ours['MLP step, graph'] = seconds(cutorch.graph(step), sizes.steps)
   local batch, side = sizes.net, 32
   local input, target = cuda(batch, 3, side, side), classes(batch, 10)
   ours['convnet step'] = seconds(trainer(convnet(), nn.ClassNLLCriterion():cuda(), input, target),
      small and 2 or 20)
   local few = small and 1 or 3
   local images = small and {1, 64} or {64, 224}
   precisions('ResNet-50 step', function(wrap)
      local residual = resnet(images[2])
      residual:get(1).gradInput = nil
      return trainer(wrap(residual), nn.ClassNLLCriterion():cuda(),
         cuda(images[1], 3, images[2], images[2]), classes(images[1], 10))
   end)
   precisions('GPT-2 step', gpt2)
   local words, hidden, length, rows = 10000, 650, 35, 20 -- Zaremba's medium network
   if small then words, hidden, length, rows = 20, 8, 3, 2 end
   ours['language model step'] = seconds(trainer(language(words, hidden),
      nn.ClassNLLCriterion():cuda(), classes(length * rows, words):view(length, rows),
      classes(length * rows, words)), few * 3)
   if cutorch.getDeviceCount() > 1 then
      local parallel = nn.DataParallelTable(1, true):add(convnet(), {1, 2})
      local step2 = trainer(parallel, nn.ClassNLLCriterion():cuda(), input, target)
      ours['convnet step on devices 1, 2'] = seconds(step2, small and 2 or 20)
   end
end

--- Returns the seconds of a process that loads dpt and reads one number from the device.
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

--- Returns PyTorch's seconds by the same names; an empty table if PyTorch is not installed.
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
local order = {'copy', 'add', 'mul', 'exp', 'sum', 'gemm', 'gemm half', 'convolution', 'lstm',
   'MLP step', 'MLP step, graph', 'convnet step', 'convnet step on devices 1, 2', 'ResNet-50 step',
   'ResNet-50 step, TF32', 'ResNet-50 step, bfloat16', 'GPT-2 step', 'GPT-2 step, TF32',
   'GPT-2 step, bfloat16', 'language model step', 'start-up'}
for _, name in ipairs(names) do order[#order + 1] = name end

-- The card's bandwidth: bytes per second of a copy within its memory.
local peak = 2 * 4 * sizes.n / math.min(ours.copy, theirs.copy or math.huge)
local rows, results = {{'row', 'PyTorch', 'dpt', 'ratio', 'wanted'}}, {}
for _, row in ipairs{{'copy', 2}, {'add', 3}, {'mul', 2}} do
   local share = row[2] * 4 * sizes.n / ours[row[1]] / peak
   results[#results + 1] = {row[1], ('%.0f %% of the card\'s copy bandwidth, %.0f GB/s'):format(
      100 * share, peak / 1e9), 'at least 90 %', share >= 0.9}
end
local least = {['MLP step'] = 2, ['MLP step, graph'] = 1}
local function milliseconds(time) return time and ('%.4g ms'):format(time * 1e3) or '' end
for _, name in ipairs(order) do
   local mine, other = ours[name], theirs[name]
   local ratio, wanted = mine and other and other / mine, least[name] or 0.95
   if mine then
      rows[#rows + 1] = {name, milliseconds(other), milliseconds(mine),
         ratio and ('%.2f'):format(ratio) or '', ratio and ('%g'):format(wanted) or ''}
   end
   if other then
      results[#results + 1] = {name, ratio and ('%.2f times PyTorch'):format(ratio) or 'failed',
         ('at least %g times'):format(wanted), ratio and ratio >= wanted or false}
   end
end
results[#results + 1] = {'steady step', ('%d waits, %d allocations in %d steps'):format(
   counted.waits, counted.taken, sizes.steps), 'none', counted.waits + counted.taken == 0}
frame.rows(rows)
if not small then
   frame.section(here .. '../../docs/performance-gpu.md', 'scripts/bench gpu',
      ('`scripts/bench gpu` on an %s: best of 5 rounds; %s, TF32 only where a row names it. The '
      .. 'card copies %.0f GB/s (read and written).'):format(unit.name, version, peak / 1e9), rows)
end
frame.finish(results)
