-- Tests device tensors of ranks that use NCCL (the replacement in spec/emulation/nccl.cpp). A mark
-- shows which sums NCCL computed: DPT_FAKE_NCCL=wrong makes its sums of floats too large by 1. arg:
-- 'works', or the fault to cause at the end.
local distributed = require 'dpt.distributed'
local script = require 'spec.support.ranks.script'
local ffi = require 'ffi'
ffi.cdef 'int setenv(const char *, const char *, int);'
local function fake(words) ffi.C.setenv('DPT_FAKE_NCCL', words, 1) end
fake '' -- threads read variables later: a new variable would move the environment
local rank, size = distributed.rank(), distributed.size()
local function on(device, f) return require('dpt').cutorch.withDevice(device, f) end
local function ones(kind) return torch[kind](5):fill(1) end

local function sumIs(wanted, t)
   distributed.allReduce(t)
   local values = t:double()
   assert(values:min() == wanted and values:max() == wanted,
      ('%s: %g to %g, wanted %g'):format(t:type(), values:min(), values:max(), wanted))
end

-- Returns the items of streams that f queues, as in 'allReduce -1'.
local function itemsOf(f)
   local C = require('dpt.ffi').C
   local profiler, found = require('dpt').profiler, {}
   local n, without = ffi.new 'int64_t[1]', ffi.new 'int64_t[1]'
   profiler.start()
   f()
   profiler.stop()
   local records = C.dpt_trace_records(n, without)
   for i = 0, tonumber(n[0]) - 1 do
      local r = records[i]
      if r.device_ > 0 then found[ffi.string(r.name_) .. ' ' .. r.stream_] = true end
   end
   return found
end

-- No thread of a device's stream waits for other ranks, and operations may follow each other.
local function follows()
   local items = itemsOf(function() sumIs(size, ones 'CudaTensor') end)
   assert(items['allReduce -1'] and not items['wait for ranks 0'], 'a stream is held')
   local list = {}
   for i = 1, 20 do
      list[i] = torch.CudaTensor(1000 * i):fill(i)
      if i % 5 == 0 then distributed.broadcast(list[i - 1], 1) end
      distributed.allReduce(list[i])
      list[i]:add(1)
      if i % 7 == 0 then assert(list[i]:min() == i * size + 1) end
   end
   for i, t in ipairs(list) do assert(t:min() == i * size + 1 and t:max() == t:min(), i) end
end

local wrongs = {
   works = function()
      follows()
      fake 'wrong'
      sumIs(size + 1, ones 'CudaTensor')
      for _, kind in ipairs(script.reduced) do -- is summed as floats
         if kind:find 'Cuda' then sumIs(size + 1, ones(kind:match '%.(.*)')) end
      end
      for _, wire in ipairs(script.wires) do -- is summed in that type
         local t = ones 'CudaTensor'
         local items = itemsOf(function() distributed.allReduce(t, 'sum', nil, nil, nil, wire) end)
         assert(items['allReduce -1'] and t:min() == size and t:max() == size, wire)
      end
      sumIs(size, ones 'CudaDoubleTensor')
      sumIs(size, ones 'CudaShortTensor')
      sumIs(size, ones 'FloatTensor')
      local all = torch.CudaTensor(size)
      distributed.allGather(all, torch.CudaTensor{rank})
      for r = 1, size do assert(all[r] == r - 1) end
      require('dpt').setDeterministic(true)
      sumIs(size, ones 'CudaTensor')
      require('dpt').setDeterministic(false)
      fake ''
      -- Another device of a rank; ranks need not use the same one.
      sumIs(size, on(2, function() return ones 'CudaTensor' end))
      sumIs(size, on(rank + 1, function() return ones 'CudaHalfTensor' end))
      local list = {ones 'CudaTensor', on(2, function() return ones 'CudaTensor' end)}
      distributed.allReduce(list, 'mean')
      assert(list[1]:sum() == 5 and list[2]:sum() == 5)
      -- Another group has its own communicator, or none if its devices cannot be joined.
      local one, two = distributed.group{1, 0}, distributed.group{0, 1}
      assert(distributed.transport(one) == 'nccl')
      fake 'one-gpu'
      local name, why = distributed.transport(two)
      assert(name == 'page-locked' and why:find 'rank 0: .*Duplicate GPU detected', why)
      fake ''
      local t = ones 'CudaTensor'
      distributed.allReduce(t, 'sum', two)
      distributed.broadcast(t, 1, one)
      assert(t:sum() == 5 * size)
   end,
   link = function()
      fake 'fail=3'
      for _ = 1, 5 do distributed.allReduce(ones 'CudaTensor') end
      cutorch.synchronizeAll()
   end,
   side = function() distributed.allReduce(ones(rank == 0 and 'CudaTensor' or 'FloatTensor')) end,
   order = function()
      require('dpt').setDeterministic(rank == 0)
      distributed.allReduce(ones 'FloatTensor')
   end,
   wire = function()
      distributed.allReduce(ones 'FloatTensor', 'sum', nil, nil, nil, script.wires[1 + rank])
   end,
   unready = function()
      local group = distributed.group{0, 1}
      fake 'unready'
      ffi.C.setenv('DPT_TIMEOUT', '2', 1)
      distributed.transport(group)
   end,
   hang = function()
      fake 'hang=2'
      ffi.C.setenv('DPT_TIMEOUT', '2', 1)
      distributed.allReduce(ones 'CudaTensor', 'sum', nil, 'gradients')
      cutorch.synchronizeAll()
   end,
}
distributed.allReduce(ones 'CudaTensor')
wrongs[arg[1]]()
cutorch.synchronizeAll()
distributed.barrier()
if rank == 0 then print 'the end' end
