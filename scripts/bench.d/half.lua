--- bench half: operations and training steps in half and bfloat16 against float and PyTorch
--
--    scripts/bench half [NAME ...]            only rows whose names contain a NAME
--
-- Invariant: peers/half.py has PyTorch's side of each row by its name. All six sides of a row (two
-- libraries, three types) take steps in turn on all cores; a turn begins after the other side's
-- threads have stopped spinning, with an untimed step if steps are short; the medians over the
-- rounds are used. `-`: a library has no such operation for the type. Layers run on a host device.
-- Rows that begin with mixed_ are networks of `scripts/bench peers` in mixed precision:
-- nn.MixedPrecision, and PyTorch's autocast.
local here = arg[0]:gsub('[^/]*$', '')
package.path = here .. '?.lua;' .. package.path
local frame, networks, peer = require 'frame', require 'networks', require 'peer'
local dpt, C = require 'dpt', require('dpt.ffi').C

local ROUNDS, SECONDS = 7, 0.03
local FEW, SLOW = 3, 0.5 -- rounds of a step that takes longer
local TYPES = {'Float', 'Half', 'BFloat16'}
local LARGE, SMALL = 2 ^ 25, 2 ^ 15 -- elements: more than the caches hold, and three operands in L2
-- least float / 16 bits of memory-bound rows and of whole steps, the share of memcpy's rate at
-- which a row is memory-bound, the least time of a whole step
local TWICE, EQUAL, BOUND, WHOLE = 1.7, 0.97, 0.9, 1e-3

dpt.setDevices 'host:1'
torch.setdefaulttensortype 'torch.FloatTensor'
local threads = torch.getnumthreads()

-- Returns the bytes per second that memcpy reads and writes on all threads.
local function memcpy()
   local move = frame.c([[
#include <string.h>
void plain_move(char *r, const char *a, long n, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int t = 0; t < threads; t++) {
    long from = n * t / threads, to = n * (t + 1) / threads;
    memcpy(r + from, a + from, to - from);
  }
}]], 'void plain_move(char *r, const char *a, long n, int threads);').plain_move
   local ffi, r = require 'ffi', torch.FloatTensor(LARGE):fill(1)
   local a = r:clone()
   local to, from = ffi.cast('char *', r:data()), ffi.cast('char *', a:data())
   return 8 * LARGE / frame.alternate(ROUNDS, function() move(to, from, 4 * LARGE, threads) end)
end

-- The copies of dpt bypass the caches. glibc's memcpy does so above a threshold of up to 192 MB,
-- which is lowered for a child process: below it, the CPU also reads the lines that it writes.
if arg[1] == '--memcpy' then
   print(memcpy())
   os.exit()
end
local line = "GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=0x100000 '%s../dpt' '%s' --memcpy"
local peak = assert(tonumber(frame.lines(line:format(here, arg[0]))[1]), 'memcpy failed')

local rows = {}
local function add(name, title, start)
   local row = {name = name, title = title, start = start}
   rows[#rows + 1] = row
   return row
end

local function random(kind, ...)
   return torch.FloatTensor(...):uniform(-1, 1):type('torch.' .. kind .. 'Tensor')
end

-- Adds a row of N elements. @param operands tensors that the operation reads and writes
-- @param kind of the first, if it is always the same
local function pointwise(name, title, operands, step, n, kind)
   local row = add(name, title, function(T)
      local r, a, b = random(kind or T, n or LARGE), random(T, n or LARGE), nil
      if operands == 3 then b = random(T, n or LARGE) end
      return function() step(r, a, b) end
   end)
   row.moves = not n and not kind and 4 * operands * LARGE
end
pointwise('copy', 'copy', 2, function(r, a) r:copy(a) end)
pointwise('add', 'add', 3, function(r, a, b) r:add(a, b) end)
pointwise('mul', 'multiply', 3, function(r, a, b) r:cmul(a, b) end)
pointwise('add_number', 'add a number', 2, function(r, a) r:add(a, 2) end)
pointwise('threshold', 'max(x, 0)', 2, function(r, a) r:cmax(a, 0) end)
pointwise('to_float', 'convert to float', 2, function(r, a) r:copy(a) end, nil, 'Float')
add('from_float', 'convert from float', function(T)
   local r, a = random(T, LARGE), random('Float', LARGE)
   return function() r:copy(a) end
end)
pointwise('add_small', 'add, in L2', 3, function(r, a, b) r:add(a, b) end, SMALL)

local function reduction(name, title, step)
   add(name, title, function(T)
      local a, r = random(T, LARGE / 4096, 4096), random(T, 1)
      return function() step(r, a) end
   end).moves = 4 * LARGE
end
reduction('sum', 'sum', function(_, a) a:sum() end)
reduction('sum_rows', 'sum of rows', function(r, a) r:sum(a, 2) end)
reduction('sum_columns', 'sum of columns', function(r, a) r:sum(a, 1) end)
reduction('max', 'max', function(_, a) a:max() end)
reduction('norm', '2-norm', function(_, a) a:norm() end)

for _, m in ipairs{512, 2048} do
   add('mm_' .. m, ('product %d x 512 x 512'):format(m), function(T)
      local a, b, r = random(T, m, 512), random(T, 512, 512), random(T, m, 512)
      return function() r:mm(a, b) end
   end)
end
add('mv', 'matrix 8192 x 4096, vector', function(T)
   local a, b, r = random(T, LARGE / 4096, 4096), random(T, 4096), random(T, LARGE / 4096)
   return function() r:mv(a, b) end
end).moves = 4 * LARGE

-- Adds a row of a module on the device. @param make returns the module and its input
local function layer(name, title, make, backward)
   add(name, title, function(T)
      local kind = T == 'Float' and 'torch.CudaTensor' or ('torch.Cuda%sTensor'):format(T)
      local net, x = make()
      net, x = net:type(kind), x:type(kind)
      local g = backward and net:forward(x):clone():fill(1)
      return function()
         if g then net:zeroGradParameters() end
         net:forward(x)
         if g then net:backward(x, g) end
         cutorch.synchronize()
      end
   end).step = true
end
layer('conv', 'convolution 3x3, 64 to 64', function()
   return nn.SpatialConvolution(64, 64, 3, 3, 1, 1, 1, 1), torch.randn(32, 64, 32, 32)
end)
layer('norm_batch', 'batch normalization', function()
   return nn.SpatialBatchNormalization(64), torch.randn(32, 64, 32, 32)
end)
layer('lstm', 'LSTM 256, 32 steps, batch 32', function()
   return dpt.cudnn.LSTM(256, 256, 1), torch.randn(32, 32, 256)
end, true)
add('train', 'MLP 512-512-512, batch 128', function(T)
   local kind = T == 'Float' and 'torch.CudaTensor' or ('torch.Cuda%sTensor'):format(T)
   local net = nn.Sequential():add(nn.Linear(512, 512)):add(nn.ReLU(true)):add(nn.Linear(512, 512))
   net:get(1).gradInput = nil
   local criterion = nn.CrossEntropyCriterion():type(kind)
   net:type(kind)
   local x, y = torch.randn(128, 512):type(kind), torch.FloatTensor(128):random(512):cuda()
   local step = networks.trainer(net, criterion, x, y, {learningRate = 0.01})
   return function()
      step()
      cutorch.synchronize()
   end
end).step = true

local peers = require 'peers.networks'
for _, pair in ipairs{{'resnet', 'ResNet-20, CIFAR, batch 64'},
   {'lstm', 'LSTM language model, batch 32'},
   {'gpt', 'GPT of 6 layers of 384, length 256, batch 8'}} do
   local name, title = unpack(pair)
   add('mixed_' .. name, title .. ', mixed precision', function(T)
      local case = peers.cases[name]()
      if T ~= 'Float' then case.net = nn.MixedPrecision(case.net, T:lower()) end
      return peers.trainer(case)
   end).step = true
end

local python = peer.python('half', 'as fast as PyTorch')
local program = assert(io.open(here .. 'peers/half.py'))
local ask, version = peer.start(python, program:read '*a', ("%d '%speers'"):format(threads, here))
program:close()

-- Returns a function that takes n steps of dpt and returns the seconds; nil without the operation.
local function own(row, T)
   local made, step = pcall(row.start, T)
   local runs, why = made, step
   if made then runs, why = pcall(step) end
   if not runs then
      io.stderr:write(('%s, %s: %s\n'):format(row.name, T, tostring(why):match '^[^\n]*'))
      return nil
   end
   return function(n)
      return frame.time(function() for _ = 1, n do step() end end)
   end
end

local function other(row, T)
   local function run(n) return ask(('%s %s %d'):format(row.name, T, n)) end
   return run(1) >= 0 and run or nil
end

-- Returns the median seconds of a step of each side: dpt's types, then PyTorch's; false without.
local function measure(row)
   local sides, counts, times = {}, {}, {}
   for i, T in ipairs(TYPES) do
      sides[i], sides[i + #TYPES] = own(row, T) or false, other(row, T) or false
   end
   for i, side in ipairs(sides) do
      counts[i], times[i] = 1, side and {}
      while side and counts[i] < 1e6 and side(counts[i]) < SECONDS do counts[i] = counts[i] * 2 end
   end
   for round = 1, ROUNDS do
      for i, side in ipairs(sides) do
         if side and (round <= FEW or times[i][1] < SLOW) then
            C.dpt_sleep(0.02)
            if counts[i] > 1 then side(1) end
            times[i][round] = side(counts[i]) / counts[i]
         end
      end
   end
   ask '-'
   for i, list in ipairs(times) do times[i] = list and frame.median(list) end
   return times
end

local function ratio(a, b) return a and b and ('%.2f'):format(a / b) or '-' end

local head = {'row', 'float', 'half', 'bfloat16', 'of memcpy', 'float / half', '/ bfloat16',
   'PyTorch / dpt: float', 'half', 'bfloat16'}
local shown, targets = {head}, {}
local function target(name, aim, ok)
   targets[name] = targets[name] or {name, 0, aim, 0}
   targets[name][2], targets[name][4] = targets[name][2] + (ok and 1 or 0), targets[name][4] + 1
end
for _, row in ipairs(rows) do
   local wanted = #arg == 0
   for _, part in ipairs(arg) do wanted = wanted or row.name:find(part, 1, true) end
   if wanted then
      local t = measure(row)
      local share = row.moves and t[1] and row.moves / t[1] / peak
      local cells = {row.title}
      for i = 1, #TYPES do
         cells[i + 1] = t[i] and ('%.3f ms'):format(t[i] * 1e3) or '-'
         cells[i + 7] = ratio(t[i + #TYPES], t[i])
         if i > 1 and t[i] then
            cells[i + 4] = ratio(t[1], t[i])
            if share and share >= BOUND then
               target('memory-bound rows', ('float / 16 bits at least %.1f'):format(TWICE),
                  t[1] / t[i] >= TWICE)
            elseif row.step and t[1] > WHOLE then
               target('whole steps', ('float / 16 bits at least %.2f'):format(EQUAL),
                  t[1] / t[i] >= EQUAL)
            end
         end
         if t[i] and t[i + #TYPES] then
            target('PyTorch', 'all as fast', t[i] <= t[i + #TYPES])
         end
      end
      cells[5] = share and ('%.0f %%'):format(100 * share) or ''
      cells[6], cells[7] = cells[6] or '-', cells[7] or '-'
      shown[#shown + 1] = cells
      io.stderr:write(table.concat(cells, '  '), '\n')
      collectgarbage()
   end
end

frame.head(('steps of dpt and of PyTorch %s in turn on %d threads, medians of %d rounds'):format(
   version, threads, ROUNDS), ('memcpy: %.1f GB/s, read and written'):format(peak / 1e9))
frame.rows(shown)
local results = {}
for _, name in ipairs{'memory-bound rows', 'whole steps', 'PyTorch'} do
   local found = targets[name]
   if found then
      results[#results + 1] = {'half, ' .. name, ('%d of %d'):format(found[2], found[4]), found[3],
         found[2] == found[4]}
   end
end
frame.finish(results)
