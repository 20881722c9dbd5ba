-- Compares nn.SyncBatchNormalization on host tensors over all ranks with one process that has all
-- rows; devices have no memory. Rank 0 prints the tests that agree.
require 'dpt'
local dptffi = require 'dpt.ffi'
local distributed = require 'dpt.distributed'
local rank, size = distributed.rank(), distributed.size()

local g = torch.Generator()
torch.manualSeed(g, 5)
torch.manualSeed(5)

-- Returns the rows of each rank: some have none; in the third step only the last has any.
local function countsOf(step)
   local counts, before, total = {}, 0, 0
   for r = 1, size do
      local none = r < size and (step == 3 or (r + step) % 3 == 0)
      counts[r] = none and 0 or r + step
      if r <= rank then before = before + counts[r] end
      total = total + counts[r]
   end
   return counts, before, total
end

local function part(t, before, count)
   if count > 0 then return t:narrow(1, before + 1, count) end
   local sizes = t:size()
   sizes[1] = 0
   return t.new(sizes)
end

-- Trains a network on all ranks and a plain one with the same steps.
local function train(typename, limit, shape, make, wrapped)
   local one = make():type(typename)
   local net = nn.SyncBatchNormalization.convert(one:clone())
   local all = wrapped and nn.DistributedDataParallel(net) or net
   local x, dx = all:getParameters()
   local y, dy = one:getParameters()
   local function near(a, b, what, step)
      if a:nElement() == 0 then return end
      local off, most = (a:double() - b:double()):abs():max(), torch.abs(b):max()
      assert(off < limit * math.max(1, most), ('%s, %s, step %d, rank %d: off by %g'):format(what,
         typename, step, rank, off))
   end
   for step = 1, 5 do
      local counts, before, total = countsOf(step)
      local count = counts[rank + 1]
      local input = torch.rand(g, total, unpack(shape)):type(typename)
      local gradOutput = torch.rand(g, total, unpack(shape)):type(typename)
      local a, b = part(input, before, count), part(gradOutput, before, count)
      all:zeroGradParameters()
      one:zeroGradParameters()
      all:forward(a)
      all:backward(a, b)
      one:forward(input)
      local whole, first = gradOutput:clone(), 0
      for r = 1, size do -- gradient of each rank's mean, weighted by rows
         if counts[r] > 0 then whole:narrow(1, first + 1, counts[r]):mul(counts[r] / total) end
         first = first + counts[r]
      end
      one:backward(input, whole)
      if not wrapped then
         dx:mul(count / total)
         distributed.allReduce(dx)
      end
      near(all.output, part(one.output, before, count), 'output', step)
      near(all.gradInput, part(one.gradInput, before, count) * (total / math.max(count, 1)),
         'gradInput', step)
      near(dx, dy, 'gradient', step)
      for i = 1, net:size() do
         local mine, other = net:get(i), one:get(i)
         if mine.running_mean then
            assert(torch.type(mine) == 'nn.SyncBatchNormalization')
            near(mine.running_mean, other.running_mean, 'mean', step)
            near(mine.running_var, other.running_var, 'variance', step)
         end
      end
      x:add(-0.1, dx)
      y:add(-0.1, dy)
   end
end

local function vectors()
   return nn.Sequential():add(nn.Linear(6, 6)):add(nn.BatchNormalization(6)):add(nn.Tanh())
      :add(nn.BatchNormalization(6, 1e-3, 0.3, false))
end

local function images()
   return nn.Sequential():add(nn.SpatialConvolution(2, 2, 3, 3, 1, 1, 1, 1))
      :add(nn.SpatialBatchNormalization(2)):add(nn.Tanh())
end

for _, wrapped in ipairs{true, false} do
   train('torch.DoubleTensor', 1e-9, {6}, vectors, wrapped)
   train('torch.FloatTensor', 1e-4, {6}, vectors, wrapped)
   train('torch.DoubleTensor', 1e-9, {2, 4, 4}, images, wrapped)
end

if os.getenv 'DPT_DEVICES' ~= 'none' then
   local stats = dptffi.ffi.new 'dpt_memory_stats'
   dptffi.lib.memory_stats_get(1, stats)
   assert(tonumber(stats.live) == 0, 'a device has memory')
end
if rank == 0 then print(size .. ' ranks agree with one process') end
