local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'

describe('dpt.comm', function()
   local count = math.min(cutorch.getDeviceCount(), 4)
   local devices = same.range(count)

   before_each(function()
      torch.manualSeed(3)
      cutorch.setDevice(1)
   end)

   -- A list of device tensors of different sizes and types, some empty.
   local function mixed()
      return {torch.randn(3, 4):cuda(), torch.CudaTensor(),
         torch.randn(5):type('torch.CudaDoubleTensor'),
         torch.LongTensor{7, 2 ^ 40}:type('torch.CudaLongTensor'), torch.randn(6, 2):cuda():t(),
         torch.randn(1000):cuda()}
   end

   it('broadcasts: the first copy is the tensor itself', function()
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

   it('leaves the current device as it was where memory is short #devices2', function()
      local t = torch.randn(2 ^ 20):cuda()
      collectgarbage()
      collectgarbage() -- what is garbage now would be room later
      local live = cutorch.memoryStats(count).live
      cutorch.emptyCache()
      cutorch.setMemoryLimit(count, live + 2 ^ 20)
      finally(function() cutorch.setMemoryLimit(count, 0) end)
      assert.error_matches(function() comm.broadcastCoalesced({t}, devices) end,
         'out of memory on device ' .. count)
      assert.equal(1, cutorch.getDevice())
   end)

   for _, limit in ipairs{1, 100, comm.BUFFER} do
      it(('G20: broadcasts many tensors through buffers of %d bytes'):format(limit), function()
         local tensors = mixed()
         local before = same.copied()
         local copies = comm.broadcastCoalesced(tensors, devices, limit)
         local bytes = 12 * 4 + 5 * 8 + 2 * 8 + 12 * 4 + 4000
         assert.equal((count - 1) * bytes, same.copied() - before)
         for i = 1, count do
            assert.equal(#tensors, #copies[i])
            for k, t in ipairs(tensors) do
               assert.equal(t:type(), copies[i][k]:type())
               same.bits(t, copies[i][k])
               if t:nElement() > 0 then assert.equal(i, copies[i][k]:getDevice()) end
            end
         end
         if count > 1 and limit == comm.BUFFER then -- one buffer for the floats
            assert.is_true(copies[2][1]:storage() == copies[2][6]:storage())
         end
      end)

      it(('G20: adds many tensors through buffers of %d bytes'):format(limit), function()
         local inputs = comm.broadcastCoalesced(mixed(), devices)
         for i = 1, count do
            for k, t in ipairs(inputs[i]) do
               if t:nElement() > 0 then inputs[i][k] = t:clone():mul(i) end
            end
         end
         local sums = comm.reduceAddCoalesced(inputs, count, limit)
         local factor = count * (count + 1) / 2
         for k, sum in ipairs(sums) do
            assert.equal(inputs[1][k]:type(), sum:type())
            if sum:nElement() > 0 then
               assert.equal(count, sum:getDevice())
               same.close(inputs[1][k]:clone():mul(factor), sum, 1e-6)
            else
               assert.equal(0, inputs[1][k]:nElement())
            end
         end
      end)
   end

   it('adds in the order of the inputs', function()
      if count < 3 then return pending('needs 3 devices') end
      local parts = {}
      for i, value in ipairs{2 ^ 24, 1, 1} do
         parts[i] = cutorch.withDevice(i, function() return torch.CudaTensor(7):fill(value) end)
      end
      local sum = comm.reduceAdd(parts)
      assert.equal(1, sum:getDevice())
      assert.equal(2 ^ 24 + 2, sum[4]) -- wide: one by one it would stay 2^24
      assert.equal(2 ^ 24, parts[1][1])
   end)

   it('adds many tensors of every type, large and small', function()
      local types = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', '', 'Double'}
      local inputs, sizes = {}, {}
      for k = 1, 160 do sizes[k] = k == 9 and 40001 or k % 37 + 1 end
      for i = 1, count do
         inputs[i] = cutorch.withDevice(i, function()
            local list = {}
            for k, size in ipairs(sizes) do
               local kind = types[math.floor(k / 20) % 8 + 1]
               list[k] = torch['Cuda' .. kind .. 'Tensor'](size):fill(k % 7 + i)
            end
            return list
         end)
      end
      for k, sum in ipairs(comm.reduceAddCoalesced(inputs, 1)) do
         local want = count * (k % 7) + count * (count + 1) / 2
         assert.equal(sizes[k], sum:eq(want):sum(), sum:type())
      end
   end)

   it('scatters and gathers rows of no elements, which have no memory', function()
      for _, typename in ipairs{'torch.CudaTensor', 'torch.LongTensor'} do
         local t = torch.getmetatable(typename).new(2 * count, 0)
         local parts = comm.scatter(t, devices)
         for _, part in ipairs(parts) do assert.same({2, 0}, part:size():totable()) end
         assert.same({2 * count, 0}, comm.gather(parts):size():totable())
         assert.same({2 * count, 0}, comm.gather(parts, 1, 0):size():totable())
      end
   end)

   it('scatters in balance or by sizes, along any dimension, and gathers', function()
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

   it('takes tensors by type up to a size, as PyTorch does', function()
      local f, d = torch.CudaTensor(10), torch.CudaDoubleTensor(10)
      local function taken(list, limit)
         local names, got = {}, {}
         for i, t in ipairs(list) do names[i] = t end
         for i, chunk in ipairs(comm.takeTensors(list, limit)) do
            got[i] = ''
            for _, t in ipairs(chunk) do
               for k, other in ipairs(names) do
                  if rawequal(t, other) then got[i] = got[i] .. k end
               end
            end
         end
         return got
      end
      local list = {f:clone(), d:clone(), f:clone(), f:clone(), d:clone(), torch.CudaTensor(100),
         f:clone(), torch.CudaLongTensor()}
      -- full ones in the order in which they got full, then the rest by the type's first tensor
      assert.same({'13', '2', '4', '6', '7', '5', '8'}, taken(list, 80))
      assert.same({'13467', '25', '8'}, taken(list))
      assert.same({}, comm.takeTensors({}, 1))
      assert.same({'12', '3'}, taken({torch.FloatTensor(2), torch.FloatTensor(3),
         torch.DoubleTensor()}, 20)) -- host tensors as well
      assert.error_matches(function() comm.takeTensors({f, 3}) end, "entry 2 of argument 'tensors'")
      assert.error_matches(function() comm.takeTensors({f}, 'much') end, 'sizeLimit')
   end)

   it('flattens tensors of one type and makes views of flat ones', function()
      for _, typename in ipairs{'torch.CudaTensor', 'torch.CudaHalfTensor', 'torch.DoubleTensor'} do
         local function new(t) return t:type(typename) end
         local list = {new(torch.range(1, 6):resize(2, 3)), torch.getmetatable(typename).new(),
            new(torch.range(7, 12):resize(3, 2)):t(), new(torch.range(13, 13))}
         local flat = comm.flatten(list)
         assert.equal(typename, flat:type())
         assert.same({1, 2, 3, 4, 5, 6, 7, 9, 11, 8, 10, 12, 13}, flat:double():totable())
         local views = comm.unflatten(flat, list)
         same.bits(list, views)
         views[4]:fill(5)
         assert.equal(5, flat[13])
         -- a part of a larger tensor
         local whole = torch.range(1, 15):type(typename)
         views = comm.unflatten(whole:narrow(1, 3, 13), list)
         assert.equal(3, views[1][1][1])
         assert.equal(15, views[4][1])
      end
      local one = torch.CudaTensor(2, 3):fill(1)
      assert.is_true(one:storage() == comm.flatten{one}:storage()) -- no copy of a single tensor
      assert.equal(0, comm.flatten{torch.CudaTensor()}:nElement())
      assert.error_matches(function() comm.flatten{} end, 'one tensor at least')
      assert.error_matches(function() comm.flatten{one, torch.CudaIntTensor(2)} end,
         'tensor 2 is a torch.CudaIntTensor, wanted a torch.CudaTensor')
      assert.error_matches(function() comm.unflatten(one, {one, one}) end, 'wanted .*12 elements')
      assert.error_matches(function() comm.unflatten(one:t(), {one}) end, 'not contiguous')
   end)

   it('adds up on every device', function()
      local list, sum = {}, torch.DoubleTensor(31):zero()
      for i = 1, count do
         list[i] = cutorch.withDevice(i, function() return torch.range(i, i + 30):cuda() end)
         sum:add(list[i]:double())
      end
      local result = comm.allReduce(list)
      assert.equal(list, result)
      for i = 1, count do same.bits(sum, list[i]:double()) end
   end)

   it('refuses what cannot travel, with a sentence #devices2', function()
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
      if count > 1 then
         local other = cutorch.withDevice(2, function() return torch.CudaTensor(2) end)
         assert.error_matches(function() comm.broadcastCoalesced({t, other}, devices) end,
            'entry 2 is on device 2, wanted device 1')
      end
      same.bits(t, comm.broadcast(t, devices)[count])
   end)

   it('refuses a device that is there twice, and lists that are none', function()
      local t = torch.CudaTensor(3):fill(1)
      assert.error_matches(function() comm.broadcast(t, {1, 1}) end,
         'device 1 is there twice, as entries 1 and 2')
      assert.error_matches(function() comm.broadcast(t, {}) end, "'devices' is empty")
      assert.error_matches(function() comm.broadcastCoalesced(t, {1}) end, 'wanted a list of')
      assert.error_matches(function() comm.broadcastCoalesced({t}, {1}, 'x') end, 'bufferSize')
      assert.error_matches(function() comm.gather({7}) end, 'entry 1')
      assert.error_matches(function() comm.scatter(7, devices) end, "'tensor'")
   end)

   it('raises for devices and tensors that are none, in functions without checks too', function()
      local t = torch.CudaTensor(2)
      assert.error_matches(function() comm.broadcast(t, {1.5}) end,
         'device 1 is 1.5, wanted a whole number')
      assert.error_matches(function() comm.device() end, 'got a nil, wanted a tensor')
      assert.error_matches(function() comm.reduceInto('ascii', 'binary') end,
         "reduceInto: argument 'destinations' is a string, wanted a table")
      assert.error_matches(function() comm.gatherInto(t, {t}) end, "argument 'dimension'")
      assert.error_matches(function() comm.scatterInto({t}, t, 1, {2}) end,
         "argument 'devices' is nil, wanted a table")
      assert.error_matches(function() comm.hostType(t) end, "argument 'name' is a torch.CudaTensor")
      assert.error_matches(function() comm.count({}, 'x', print) end, "argument 'counts")
      for _, call in ipairs{
         function() comm.gatherInto(torch.CudaTensor(), {nil, t}, 1, 1) end,
         function() comm.scatterInto({}, torch.CudaTensor(4), 1, {2, 2}, {1, 1}) end,
         function() comm.broadcastInto({t}, {7}) end,
      } do assert.error_matches(call, 'comm: entry 1 of %d is of type %a+, wanted a tensor') end
   end)

   it('tells the transport in use, and raises for an absent one where asked to', function()
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
