local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'

describe('dpt.comm', function()
   local count = same.most(4)
   local devices = same.range(count)

   same.seeded(3)

   it('broadcasts a tensor and returns it as the first copy', function()
      local t = torch.randn(3, 5):cuda()
      local copies = comm.broadcast(t, devices)
      assert.equal(count, #copies)
      assert.is_true(t:isSetTo(copies[1]))
      for i = 2, count do
         assert.equal(i, copies[i]:getDevice())
         same.bits(t, copies[i])
      end
   end)

   it('sends and sums tensors of storages without elements #devices2', function()
      local function on(i)
         return cutorch.withDevice(i, function()
            local none = torch.CudaTensor()
            none:set(torch.CudaStorage(0), 1, torch.LongStorage{0})
            return {torch.CudaTensor(70000):fill(i), none, torch.CudaTensor(70000):fill(i)}
         end)
      end
      local a, b = on(1), on(2)
      comm.broadcastInto(a, b)
      assert.equal(70000, b[1]:sum())
      comm.reduceInto(a, b)
      for _, i in ipairs{1, 3} do assert.equal(140000, a[i]:sum()) end
      assert.equal(0, a[2]:nElement())
   end)

   it('restores the current device if memory runs out #devices2', function()
      local t = torch.randn(2 ^ 20):cuda()
      collectgarbage()
      collectgarbage() -- uncollected and busy memory would become free later
      cutorch.synchronizeAll()
      local live = cutorch.memoryStats(count).live
      cutorch.emptyCache()
      cutorch.setMemoryLimit(count, live + 2 ^ 20)
      finally(function() cutorch.setMemoryLimit(count, 0) end)
      assert.error_matches(function() comm.broadcastCoalesced({t}, devices) end,
         'out of memory on device ' .. count)
      assert.equal(1, cutorch.getDevice())
   end)

   it('adds in the order of the inputs', function()
      if count < 3 then return pending('needs 3 devices') end
      local parts = {}
      for i, value in ipairs{2 ^ 24, 1, 1} do
         parts[i] = cutorch.withDevice(i, function() return torch.CudaTensor(7):fill(value) end)
      end
      local sum = comm.reduceAdd(parts)
      assert.equal(1, sum:getDevice())
      assert.equal(2 ^ 24 + 2, sum[4]) -- wide accumulator: in float it would stay 2^24
      assert.equal(2 ^ 24, parts[1][1])
   end)

   it('scatters and gathers rows without elements', function()
      for _, typename in ipairs{'torch.CudaTensor', 'torch.LongTensor'} do
         local t = torch.getmetatable(typename).new(2 * count, 0)
         local parts = comm.scatter(t, devices)
         for _, part in ipairs(parts) do assert.same({2, 0}, part:size():totable()) end
         assert.same({2 * count, 0}, comm.gather(parts):size():totable())
         assert.same({2 * count, 0}, comm.gather(parts, 1, 0):size():totable())
      end
   end)

   it('scatters balanced or by sizes, along any dimension, and gathers the parts', function()
      local t = torch.randn(9, 6)
      for _, source in ipairs{t:float(), t:cuda(), t:type('torch.CudaDoubleTensor')} do
         for dim = 1, 2 do
            local parts = comm.scatter(source, devices, nil, dim)
            for i, part in ipairs(parts) do assert.equal(i, part:getDevice()) end
            assert.equal(comm.deviceType(source:type()), parts[1]:type())
            same.bits(source, comm.gather(parts, dim, count))
            local back = comm.gather(parts, dim, 0)
            assert.equal(comm.hostType(parts[1]:type()), back:type())
            same.bits(source, back)
         end
      end
      if count >= 3 then
         local parts = comm.scatter(t:cuda(), {3, 1}, {2, 7})
         assert.same({2, 6}, parts[1]:size():totable())
         assert.equal(3, parts[1]:getDevice())
         same.bits(t:narrow(1, 3, 7):float(), parts[2])
      end
   end)

   it('sums on every device by allReduce', function()
      local list, sum = {}, torch.DoubleTensor(31):zero()
      for i = 1, count do
         list[i] = cutorch.withDevice(i, function() return torch.range(i, i + 30):cuda() end)
         sum:add(list[i]:double())
      end
      local result = comm.allReduce(list)
      assert.equal(list, result)
      for i = 1, count do same.bits(sum, list[i]:double()) end
   end)

   it('rejects values that cannot be sent with one error message #devices2', function()
      local t = torch.CudaTensor(3):fill(1)
      assert.error_matches(function() comm.broadcast(torch.FloatTensor(3), devices) end,
         'entry 1 is a torch.FloatTensor in host memory, wanted a device tensor')
      assert.error_matches(function() comm.broadcastCoalesced({t, 7}, devices) end,
         "entry 2 of argument 'tensors' is of type number")
      assert.error_matches(function() comm.reduceAdd{} end, 'one device at least')
      assert.error_matches(function() comm.reduceAdd{t, torch.CudaTensor(4)} end,
         'tensor 1 of input 2 is a torch.CudaTensor of size 4, wanted a torch.CudaTensor of size 3')
      assert.error_matches(function() comm.reduceAddCoalesced{{t}, {t, t}} end,
         'input 2 has 2 tensors, wanted 1')
      assert.error_matches(function() comm.scatter(t, devices, {1}) end, 'chunk sizes for')
      assert.error_matches(function() comm.scatter(t, {1}, {2}) end, '2 entries together')
      assert.error_matches(function() comm.scatter(t, {1}, nil, 2) end, 'dimension 2')
      assert.error_matches(function() comm.gather({torch.CudaTensor(2, 3), t}) end, 'part 2')
      assert.error_matches(function() comm.gather({t}, 2 ^ 31) end, 'dimension 2147483648 is out')
      if count > 1 then
         local other = cutorch.withDevice(2, function() return torch.CudaTensor(2) end)
         assert.error_matches(function() comm.broadcastCoalesced({t, other}, devices) end,
            'entry 2 is on device 2, wanted device 1')
      end
      same.bits(t, comm.broadcast(t, devices)[count])
   end)

   it('returns the transport in use, and raises for a missing one if strict', function()
      assert.error_matches(function()
         comm.setTransport('pigeon', true)
      end, "no transport 'pigeon'")
      local text = run.lua([[
         local comm = require('dpt').comm
         assert(comm.transport() == 'copy' and comm.setTransport 'copy')
         for _ = 1, 3 do assert(not comm.setTransport 'nccl') end
         local _, why = pcall(comm.setTransport, 'nccl', true)
         print(comm.transport(), why)]], {DPT_DEVICES = 'host:2'})
      assert.matches('^dpt: NCCL was asked for[^\n]*\ncopy[^\n]*NCCL was asked for[^\n]*\n$', text)
   end)
end)
