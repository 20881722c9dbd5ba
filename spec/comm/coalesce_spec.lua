-- Lists of tensors of any kind, through buffers of any size, against one tensor at a time.
local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local same = require 'spec.support.parallel'
local torture = require 'spec.support.torture'

local TYPES = {'torch.CudaTensor', 'torch.CudaTensor', 'torch.CudaDoubleTensor',
   'torch.CudaHalfTensor', 'torch.CudaLongTensor', 'torch.CudaByteTensor'}

describe('coalescing', function()
   local count = math.min(cutorch.getDeviceCount(), 4)
   local devices = same.range(count)
   local rounds = torture(300)

   local function pick(n) return torch.random(1, n) end

   -- Whole numbers that add up exactly in every type.
   local function values(...) return torch.DoubleTensor(...):random(0, 9) end

   -- A tensor on the current device: plain, a view, not contiguous or empty.
   local function some(typename)
      local form = pick(6)
      if form == 1 then return torch.getmetatable(typename).new() end
      if form == 2 then return values(pick(40), pick(9)):type(typename):t() end
      if form == 3 then return values(pick(9), 12):type(typename):narrow(2, 3, pick(8)) end
      if form == 4 then return values(pick(4000)):type(typename) end
      if form == 5 then return values(pick(30), pick(5), pick(5)):type(typename):select(1, 1) end
      return values(20, pick(100)):type(typename):narrow(1, pick(10), pick(10))
   end

   -- Neighbours in one storage as well.
   local function list()
      local result = {}
      for _ = 1, pick(25) do
         local typename = TYPES[pick(#TYPES)]
         if pick(3) == 1 then
            local whole, size = values(60):type(typename), pick(20)
            for k = 0, pick(3) - 1 do
               table.insert(result, whole:narrow(1, k * size + 1, size))
            end
         else
            table.insert(result, some(typename))
         end
      end
      return result
   end

   local function like(model, device)
      return cutorch.withDevice(device, function()
         if model:nElement() == 0 then return model.new() end
         return values(model:size()):type(model:type())
      end)
   end

   it('copies and adds any lists', function()
      for round = 1, rounds do
         torch.manualSeed(round)
         local limit = ({1, 64, 1000, 20000, comm.BUFFER})[pick(5)]
         local source = pick(count)
         local tensors = cutorch.withDevice(source, list)
         local order = {source}
         for i = 1, count do
            if i ~= source then table.insert(order, i) end
         end
         local copies = comm.broadcastCoalesced(tensors, order, limit)
         assert.equal(tensors, copies[1])
         for i = 2, count do
            same.bits(tensors, copies[i])
            for k, t in ipairs(copies[i]) do
               assert.equal(tensors[k]:type(), t:type())
               if t:nElement() > 0 then
                  assert.equal(order[i], t:getDevice())
                  local bytes = t:storage():size() * t:elementSize()
                  assert.is_true(bytes <= math.max(limit, t:nElement() * t:elementSize()))
               end
            end
         end
         local inputs, sums = {tensors}, {}
         for k, t in ipairs(tensors) do sums[k] = t:double() end
         for i = 2, count do
            inputs[i] = {}
            for k, t in ipairs(tensors) do
               inputs[i][k] = like(t, order[i])
               if t:nElement() > 0 then sums[k]:add(inputs[i][k]:double()) end
            end
         end
         local destination = pick(count)
         local got = comm.reduceAddCoalesced(inputs, destination, limit)
         for k, sum in ipairs(got) do
            assert.equal(tensors[k]:type(), sum:type())
            same.bits(sums[k], sum:double())
            if sum:nElement() > 0 then assert.equal(destination, sum:getDevice()) end
         end
      end
   end)

   it('cuts what is joined by takeTensors into the same tensors', function()
      for round = 1, rounds do
         torch.manualSeed(1000 + round)
         local tensors, seen = list(), 0
         for _, chunk in ipairs(comm.takeTensors(tensors, 5000)) do
            same.bits(chunk, comm.unflatten(comm.flatten(chunk), chunk))
            seen = seen + #chunk
         end
         assert.equal(#tensors, seen)
      end
   end)

   it('takes thousands of tensors', function()
      local tensors, sum = {}, 0
      for k = 1, 3000 do
         tensors[k] = torch.CudaTensor(k % 7 + 1):fill(k)
         sum = sum + k * (k % 7 + 1)
      end
      local copies = comm.broadcastCoalesced(tensors, devices)
      local total = 0
      for _, t in ipairs(copies[count]) do total = total + t:sum() end
      assert.equal(sum, total)
      local sums = comm.reduceAddCoalesced(copies, 1)
      for k = 1, 3000, 37 do
         assert.equal(count * k, sums[k]:min())
         assert.equal(count * k, sums[k]:max())
      end
   end)

   it('reads host memory before it returns, page-locked or not, and fills it', function()
      local n = 2 ^ 19 * count -- long enough for one move
      local expected = torch.range(1, n):float()
      for _, host in ipairs{torch.FloatTensor(n), cutorch.createCudaHostTensor(n)} do
         for _ = 1, 3 do
            host:copy(expected)
            local parts = comm.scatter(host, devices)
            host:zero()
            same.bits(expected, comm.gather(parts, 1, 0))
            comm.gatherInto(host, parts, 1, 0)
            same.bits(expected, host)
            cutorch.synchronizeAll() -- the next round goes straight to the devices
         end
      end
   end)
end)
