-- Counts the kernels that operations launch on a GPU, using the emulation.
local run = require 'spec.support.run'

local counts = [[
   local ffi = require 'ffi'
   local dpt = require 'dpt'
   local torch, cutorch = dpt.torch, dpt.cutorch
   ffi.cdef 'long long emulated_launches(void);'
   local x = {}
   for i, size in ipairs{{1000, 4}, {3, 8192}, {3, 8193}} do
      x[i] = torch.CudaTensor(unpack(size)):fill(1)
   end
   local maps = assert(io.open '/proc/self/maps'):read '*a'
   local lib = ffi.load(maps:match '/%S*libdpt_emulated%S*')
   for i = 1, #x do
      cutorch.synchronize()
      local before = lib.emulated_launches()
      local sums = torch.sum(x[i], 2)
      cutorch.synchronize()
      print(tonumber(lib.emulated_launches() - before), sums:min() == x[i]:size(2))
   end
]]

describe('A reduction on a GPU #hostonly', function()
   it('is one launch if a block is enough for a row', function()
      local emulated = {DPT_DEVICES = 'emulated:1'}
      assert.equal('1\ttrue\n1\ttrue\n2\ttrue\n', run.lua(counts, emulated))
   end)
end)

local training = [[
   local ffi = require 'ffi'
   local dpt = require 'dpt'
   local torch, cutorch, nn = dpt.torch, dpt.cutorch, dpt.nn
   ffi.cdef[=[
      long long emulated_launches(void), emulated_calls(const char *);
      int emulated_urgent(int);
   ]=]
   torch.setdefaulttensortype 'torch.FloatTensor'
   local inner = nn.Sequential():add(nn.Linear(300, 300)):add(nn.ReLU()):add(nn.Linear(300, 300))
      :add(nn.ReLU()):add(nn.Linear(300, 10)):cuda()
   local net = nn.DataParallelTable(1, true):add(inner, {1, 2})
   local criterion = nn.MSECriterion():cuda()
   local input, target = torch.rand(8, 300):cuda(), torch.rand(8, 10):cuda()
   local params, gradients = net:getParameters()
   local lib = ffi.load(io.open '/proc/self/maps':read '*a':match '/%S*libdpt_emulated%S*')
   local function step()
      net:zeroGradParameters()
      criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      params:add(-0.01, gradients)
      cutorch.synchronizeAll()
   end
   local function counts()
      return tonumber(lib.emulated_launches()), tonumber(lib.emulated_calls 'cudaMemcpyAsync'),
         tonumber(lib.emulated_calls 'cudaEventRecord'),
         tonumber(lib.emulated_calls 'cudaStreamWaitEvent')
   end
   local before = {lib.emulated_urgent(0), lib.emulated_urgent(1)}
   for _ = 1, 3 do step() end
   local launches, copies, events, waits = counts()
   for _ = 1, 5 do step() end
   local after = {counts()}
   print(before[1], before[2], lib.emulated_urgent(0), lib.emulated_urgent(1))
   print((after[1] - launches) / 5, (after[2] - copies) / 5)
   print((after[3] - events) / 5, (after[4] - waits) / 5)
]]

describe('A step of a parallel network on GPUs #hostonly', function()
   it('sums during the backward pass in priority streams, with little memory', function()
      local output = run.lua(training, {DPT_DEVICES = 'emulated:2'})
      local urgent, kernels, events, waits = output:match '^([^\n]*)\n([^\n]*)\n(%S+)\t(%S+)\n$'
      assert.equal('0\t0\t1\t1', urgent, output)
      assert.equal('34\t16', kernels) -- launches, copies
      assert.is_true(tonumber(events) <= 33 and tonumber(waits) <= 28, output)
   end)
end)

local layers = [[
   local ffi = require 'ffi'
   local dpt = require 'dpt'
   local torch, cutorch, nn = dpt.torch, dpt.cutorch, dpt.nn
   ffi.cdef 'long long emulated_launches(void), emulated_calls(const char *);'
   local lib
   local indices = torch.LongTensor(2, 5):random(1, 9):type 'torch.CudaLongTensor'
   for _, case in ipairs{
      {'Linear', {8, 16}, torch.rand(6, 8)},
      {'SpatialConvolution', {4, 8, 3, 3}, torch.rand(2, 4, 6, 6)},
      {'Embedding', {9, 8}, indices},
      {'EmbeddingBag', {9, 8}, indices},
      {'PositionEmbedding', {6, 4}, torch.rand(3, 5, 4)},
      {'SeqLSTM', {8, 16}, torch.rand(3, 2, 8)},
      {'MultiheadAttention', {16, 2}, torch.rand(5, 2, 16)},
      {'CMul', {8}, torch.rand(6, 8)},
      {'PReLU', {8}, torch.rand(6, 8)},
   } do
      local name, arguments, x = unpack(case)
      local counts = {}
      for _, typename in ipairs{'torch.CudaTensor', 'torch.CudaBFloat16Tensor',
            'torch.CudaHalfTensor'} do
         local m, cache = nn[name](unpack(arguments)):cuda(), {}
         for _, t in ipairs(select(2, m:parameters())) do cache[t] = t end
         m:type(typename, cache)
         local input = x == indices and x or x:type(typename)
         local gradOutput = m:forward(input):clone()
         m:backward(input, gradOutput)
         lib = lib or ffi.load(io.open '/proc/self/maps':read '*a':match '/%S*libdpt_emulated%S*')
         local function count()
            cutorch.synchronize()
            return tonumber(lib.emulated_launches() + lib.emulated_calls 'cudaMemcpyAsync')
         end
         local before = count()
         m:forward(input)
         m:backward(input, gradOutput)
         table.insert(counts, count() - before)
      end
      if counts[1] ~= counts[2] or counts[1] ~= counts[3] then
         print(name, unpack(counts))
      end
   end
   print 'compared'
]]

describe('A layer of a reduced type with gradients of floats #hostonly', function()
   it('converts nothing: its passes have the launches and copies of floats', function()
      assert.equal('compared\n', run.lua(layers, {DPT_DEVICES = 'emulated:1',
         DPT_CUDA_REDUCED = '1'}))
   end)
end)
