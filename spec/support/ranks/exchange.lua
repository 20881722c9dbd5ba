-- Tests messages among all ranks, extremes of tensors with NaN, and rounding, for any devices: runs
-- each of `checks` on all ranks.
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local script = require 'spec.support.ranks.script'
local given, equal = script.given, script.equal
local rank, size = distributed.rank(), distributed.size()
local right, left = (rank + 1) % size, (rank - 1) % size
local LARGE = 300000 -- elements: more than MPI buffers

local both = {'torch.FloatTensor', 'torch.CudaTensor'}

local checks = {}

-- Sends each rank's elements to the next rank.
local function ring(kind, count, group, r, n)
   local to, from = (r + 1) % n, (r - 1) % n
   local got = torch.DoubleTensor(count):type(kind)
   local handle = distributed.exchange({{send = given(r, kind, count), to = to},
      {receive = got, from = from}}, group)
   equal(got, given(from, kind, count), 'ring of ' .. kind)
   assert(handle:wait() == handle and handle:done())
end

function checks.ring()
   if size == 1 then return end
   for _, kind in ipairs(script.kinds) do
      for _, count in ipairs{1, 1000} do ring(kind, count, nil, rank, size) end
   end
   for _, kind in ipairs(both) do ring(kind, LARGE, nil, rank, size) end
end

-- A group renumbers its ranks, and excludes others.
function checks.exchange_group()
   if size == 1 then return end
   local list = {size - 1, 0}
   local group = distributed.group(list)
   for _, kind in ipairs(both) do
      if group:rank() then ring(kind, LARGE, group, group:rank(), 2) end
   end
   distributed.barrier()
   if not group:rank() then
      expect.raises(('rank %d is not in the group'):format(rank), distributed.exchange,
         {{send = torch.ones(1), to = 0}}, group)
   end
end

-- Sends to both neighbours at once; with two ranks they are the same.
function checks.neighbours()
   if size == 1 then return end
   for _, kind in ipairs(both) do
      local a, b = torch.ones(LARGE):type(kind), torch.ones(LARGE):type(kind)
      distributed.exchange{
         {send = given(rank, kind, LARGE), to = right},
         {receive = a, from = left},
         {send = given(rank + 10, kind, LARGE), to = left},
         {receive = b, from = right},
      }
      equal(a, given(left, kind, LARGE), 'from the left')
      equal(b, given(right + 10, kind, LARGE), 'from the right')
   end
end

-- A tag selects the message; messages with the same tag keep their order.
function checks.tags()
   if size == 1 then return end
   for _, kind in ipairs(both) do
      local list, got = {}, {}
      for k, tag in ipairs{3, 1, 3, 2} do
         list[k] = {send = given(10 * rank + k, kind, 50 + k), to = right, tag = tag}
      end
      for i, k in ipairs{4, 1, 2, 3} do
         got[k] = torch.ones(50 + k):type(kind)
         list[4 + i] = {receive = got[k], from = left, tag = list[k].tag}
      end
      distributed.exchange(list)
      for k = 1, 4 do equal(got[k], given(10 * left + k, kind, 50 + k), 'message ' .. k) end
   end
end

-- The partner may send and receive in sequence.
function checks.plain()
   if size == 1 then return end
   for _, kind in ipairs(both) do
      local out, got = given(rank, kind, 5000), torch.ones(5000):type(kind)
      if rank == 0 then
         distributed.exchange{{send = out, to = 1, tag = 4}, {receive = got, from = 1}}
         equal(got, given(1, kind, 5000), 'from a send')
      elseif rank == 1 then
         distributed.receive(got, 0, 4)
         distributed.send(out, 0)
         equal(got, given(0, kind, 5000), 'of an exchange')
      end
   end
end

-- Tests no messages, empty messages, and memory with gaps.
function checks.little()
   distributed.exchange{}
   if size == 1 then return end
   for _, kind in ipairs(both) do
      ring(kind, 0, nil, rank, size)
      local gaps = torch.ones(20, 2):type(kind)
      distributed.exchange{{send = given(rank, kind, 40):view(20, 2):t(), to = right},
         {receive = gaps:select(2, 1), from = left, tag = 1},
         {receive = gaps:select(2, 2), from = left, tag = 2},
         {send = given(rank, kind, 20), to = right, tag = 1},
         {send = given(rank + 5, kind, 20), to = right, tag = 2},
         {receive = torch.ones(40):type(kind), from = left}}
      equal(gaps:select(2, 1), given(left, kind, 20), 'the first column')
      equal(gaps:select(2, 2), given(left + 5, kind, 20), 'the second column')
   end
end

-- Exchanges run in the order of the device's stream, without blocking the caller.
function checks.order()
   if size == 1 then return end
   local a, b = torch.CudaTensor(1000):fill(rank), torch.CudaTensor(1000)
   for _ = 1, 2 * size do
      distributed.exchange{{send = a, to = right}, {receive = b, from = left}}
      a:copy(b):add(1)
   end
   equal(a, torch.ones(1000):fill(rank + 2 * size), 'after two rounds')
end

-- Tests tensors of both devices of a rank, and of different devices on different ranks.
function checks.devices()
   if size == 1 or cutorch.getDeviceCount() < 2 then return end
   local function on(device, seed)
      return cutorch.withDevice(device, given, seed, 'torch.CudaTensor', 3000)
   end
   local a, b = on(2, 50), on(1 + rank % 2, 51)
   distributed.exchange{
      {send = on(1, rank), to = right},
      {send = on(2, rank + 10), to = right},
      {receive = a, from = left},
      {receive = b, from = left},
   }
   equal(a, given(left, 'torch.CudaTensor', 3000), 'the first device')
   equal(b, given(left + 10, 'torch.CudaTensor', 3000), 'the second device')
   assert(a:getDevice() == 2)
end

function checks.arguments()
   local t = torch.FloatTensor(2)
   local function wrong(list)
      local ok, why = pcall(distributed.exchange, list)
      assert(not ok, 'no error')
      assert(why:find 'distributed%.exchange: .*, wanted ', why)
   end
   for _, list in ipairs{3, {7}, {{to = 0}}, {{send = t, receive = t, to = 0, from = 0}},
      {{send = t}}, {{send = t, from = 0}}, {{receive = t}}, {{receive = t, to = 0}},
      {{send = 'word', to = 0}}, {{send = t, to = 'first'}}} do
      wrong(list)
   end
   wrong(nil)
   expect.raises(('got rank %d, wanted 0 to %d'):format(size, size - 1), distributed.exchange,
      {{send = t, to = size}})
   expect.raises(('rank %d is this one'):format(rank), distributed.exchange,
      {{send = t, to = rank}})
   if size > 1 then
      expect.raises('wanted tensors of the host or of devices', distributed.exchange,
         {{send = t, to = right}, {receive = t:cuda(), from = left}})
   end
   expect.raises('distributed.exchange: got number, wanted a group', distributed.exchange, {}, 2)
end

local function toAll(kind, count, group, members, place)
   local n = #members
   local input, wanted = torch.ones(n * count):type(kind), torch.DoubleTensor(n, count)
   for i = 1, n do
      input:narrow(1, (i - 1) * count + 1, count):copy(given(10 * members[place] + i, kind, count))
      wanted[i]:copy(given(10 * members[i] + place, 'torch.DoubleTensor', count))
   end
   local kept, out = input:clone(), torch.zeros(n, count):type(kind)
   local handle = distributed.allToAll(out, input, group)
   equal(out, wanted, 'allToAll of ' .. kind)
   equal(input, kept, 'what allToAll reads')
   assert(handle:wait() == handle and handle:done())
   return input, out, wanted
end

function checks.allToAll()
   local all = {}
   for i = 1, size do all[i] = i - 1 end
   for _, kind in ipairs(script.kinds) do
      for _, count in ipairs{1, 333} do toAll(kind, count, nil, all, rank + 1) end
   end
   local a, outA, wantedA
   for _, kind in ipairs(both) do a, outA, wantedA = toAll(kind, LARGE, nil, all, rank + 1) end
   distributed.allToAll(torch.FloatTensor(), torch.FloatTensor())
   -- tensors of several types in one call
   local b, outB, wantedB = toAll('torch.DoubleTensor', 4, nil, all, rank + 1)
   outA:zero()
   outB:zero()
   distributed.allToAll({outB, outA}, {b, a})
   equal(outA, wantedA, 'the second of a list')
   equal(outB, wantedB, 'the first of a list')
   if size == 1 then return end
   local list = {size - 1, 0}
   local group = distributed.group(list)
   for _, kind in ipairs(both) do
      if group:rank() then toAll(kind, 77, group, list, group:rank() + 1) end
   end
end

function checks.allToAll_arguments()
   local t, odd = torch.FloatTensor(4 * size), torch.FloatTensor(size + 1)
   if size > 1 then
      expect.raises('wanted a part for each of', distributed.allToAll, odd, odd)
   end
   expect.raises('allToAll: got a', distributed.allToAll, torch.FloatTensor(8 * size), t)
   expect.raises('allToAll: got a', distributed.allToAll, torch.DoubleTensor(4 * size), t)
   expect.raises("argument 'out' is missing", distributed.allToAll, nil, t)
   expect.raises('allToAll', distributed.allToAll, t, 4)
end

-- An element that is NaN on any rank is NaN in the result.
local reductions = {
   {'allReduce', function(t, op) distributed.allReduce(t, op) return t, 0 end},
   {'reduce', function(t, op)
      distributed.reduce(t, size - 1, op)
      if rank == size - 1 then return t, 0 end
   end},
   {'reduceScatter', function(t, op)
      local n = t:nElement() / size
      local part = t.new(n)
      distributed.reduceScatter(part, t, op)
      return part, rank * n
   end},
}
for i, wire in ipairs(script.wires) do
   reductions[3 + i] = {wire, function(t, op)
      distributed.allReduce(t, op, nil, nil, nil, wire)
      return t, 0
   end}
end

local function element(r, i) -- of rank r
   return i % 5 == r and 0 / 0 or (i * 3 + r * 7) % 11 - 5
end

function checks.not_a_number()
   local count = 6 * 7 * size -- not a multiple of a vector's width
   local mine = torch.DoubleTensor(count)
   for i = 1, count do mine[i] = element(rank, i) end
   for _, kind in ipairs(script.kinds) do
      for _, case in ipairs(script.reals[kind] and reductions or {}) do
         for _, op in ipairs{'max', 'min'} do
            local got, before = case[2](mine:type(kind):clone(), op)
            for i = 1, got and got:nElement() or 0 do
               local isNone, e = false, got[i]
               local wanted = element(0, before + i)
               for r = 0, size - 1 do
                  local its = element(r, before + i)
                  isNone = isNone or its ~= its
                  wanted = math[op](wanted, its)
               end
               if isNone and e == e or not isNone and e ~= wanted then
                  error(('%s (%s) of %s on rank %d: element %d is %g'):format(case[1], op, kind,
                     rank, before + i, e))
               end
            end
         end
      end
   end
end

-- Sums of reduced types are rounded once: large + 1 is rounded to large, but large + 2 is exact.
function checks.rounded_once()
   for _, kind in ipairs(script.reduced) do
      local large = 1
      while torch.Tensor{large + 1}:type(kind)[1] > large do large = 2 * large end
      for i = 1, 3 do
         local name, run = unpack(reductions[i])
         for _, op in ipairs{'sum', 'mean'} do
            local got = run(torch.Tensor(70 * size):fill(rank == 0 and large or 1):type(kind), op)
            local wanted = (large + size - 1) / (op == 'sum' and 1 or size)
            if got then equal(got, got:double():fill(wanted), name .. ' of ' .. kind) end
         end
      end
   end
end

distributed.allReduce(torch.CudaTensor(1)) -- joins the devices of the group
local transport = distributed.transport()
local wanted = os.getenv 'DPT_NCCL' and 'nccl'
   or os.getenv 'DPT_DEVICES':find '^host' and 'mpi' or 'page-locked'
assert(size == 1 or transport == wanted, transport)
script.run({'ring', 'exchange_group', 'neighbours', 'tags', 'plain', 'little', 'order', 'devices',
   'arguments', 'allToAll', 'allToAll_arguments', 'not_a_number', 'rounded_once'}, checks)
