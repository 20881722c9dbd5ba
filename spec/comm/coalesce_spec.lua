-- Lists of tensors of all types and buffers of all sizes, compared with one tensor at a time.
local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local core = require 'dpt.tensor.core'
local same = require 'spec.support.parallel'
local torture = require 'spec.support.torture'

local TYPES = {}
for dtype = 0, #core.elements do TYPES[1 + dtype] = core.tensorNames[dtype + core.ON_DEVICE] end

describe('dpt.comm.coalesce', function()
   local count = same.most(4)
   local devices = same.range(count)
   local rounds = torture(300)

   local function pick(n) return torch.random(1, n) end

   -- Returns integers whose sums are exact in every type.
   local function values(...) return torch.DoubleTensor(...):random(0, 9) end

   -- Returns a tensor on the current device: contiguous, strided, a view or empty.
   local function some(typename)
      local form = pick(6)
      if form == 1 then return torch.getmetatable(typename).new() end
      if form == 2 then return values(pick(40), pick(9)):type(typename):t() end
      if form == 3 then return values(pick(9), 12):type(typename):narrow(2, 3, pick(8)) end
      if form == 4 then return values(pick(4000)):type(typename) end
      if form == 5 then return values(pick(30), pick(5), pick(5)):type(typename):select(1, 1) end
      return values(20, pick(100)):type(typename):narrow(1, pick(10), pick(10))
   end

   -- Returns a list of such tensors; some are adjacent in one storage.
   local function randomList()
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

   it('copies and adds lists of any tensors', function()
      for round = 1, rounds do
         torch.manualSeed(round)
         local limit = ({1, 64, 1000, 20000, comm.BUFFER})[pick(5)]
         local source = pick(count)
         local tensors = cutorch.withDevice(source, randomList)
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

   it('splits the groups of takeTensors into the original tensors', function()
      for round = 1, rounds do
         torch.manualSeed(1000 + round)
         local tensors, seen = randomList(), 0
         for _, chunk in ipairs(comm.takeTensors(tensors, 5000)) do
            same.bits(chunk, comm.unflatten(comm.flatten(chunk), chunk))
            seen = seen + #chunk
         end
         assert.equal(#tensors, seen)
      end
   end)

   it('copies and adds thousands of tensors in one call', function()
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
      local n = 2 ^ 19 * count -- 2 MB for each device
      local expected = torch.range(1, n):float()
      for _, host in ipairs{torch.FloatTensor(n), cutorch.createCudaHostTensor(n)} do
         for _ = 1, 3 do
            host:copy(expected)
            local parts = comm.scatter(host, devices)
            host:zero()
            same.bits(expected, comm.gather(parts, 1, 0))
            comm.gatherInto(host, parts, 1, 0)
            same.bits(expected, host)
            cutorch.synchronizeAll() -- the next round copies directly to the devices
         end
      end
   end)


   before_each(function() cutorch.setDevice(1) end)

   -- Returns a list of device tensors of different sizes and types, one of them empty.
   local function mixed()
      return {torch.randn(3, 4):cuda(), torch.CudaTensor(),
         torch.randn(5):type('torch.CudaDoubleTensor'),
         torch.LongTensor{7, 2 ^ 40}:type('torch.CudaLongTensor'), torch.randn(6, 2):cuda():t(),
         torch.randn(1000):cuda()}
   end

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
         if count > 1 and limit == comm.BUFFER then -- one buffer holds all floats
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

   it('adds many tensors of every type, large and small', function()
      local inputs, sizes = {}, {}
      for k = 1, 20 * #TYPES do sizes[k] = k == 9 and 40001 or k % 37 + 1 end
      for i = 1, count do
         inputs[i] = cutorch.withDevice(i, function()
            local list = {}
            for k, size in ipairs(sizes) do
               local typename = TYPES[math.floor(k / 20) % #TYPES + 1]
               list[k] = torch.getmetatable(typename).new(size):fill(k % 7 + i)
            end
            return list
         end)
      end
      for k, sum in ipairs(comm.reduceAddCoalesced(inputs, 1)) do
         local want = count * (k % 7) + count * (count + 1) / 2
         assert.equal(sizes[k], sum:eq(want):sum(), sum:type())
      end
   end)

   it('groups tensors by type up to a size, as PyTorch does', function()
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
      -- full chunks in the order they became full, then the rest by each type's first tensor
      assert.same({'13', '2', '4', '6', '7', '5', '8'}, taken(list, 80))
      assert.same({'13467', '25', '8'}, taken(list))
      assert.same({}, comm.takeTensors({}, 1))
      assert.same({'12', '3'}, taken({torch.FloatTensor(2), torch.FloatTensor(3),
         torch.DoubleTensor()}, 20)) -- host tensors too
      assert.error_matches(function() comm.takeTensors({f, 3}) end, "entry 2 of argument 'tensors'")
      assert.error_matches(function() comm.takeTensors({f}, 'much') end, 'sizeLimit')
   end)

   it('flattens tensors of one type and makes views of flat ones', function()
      for _, typename in pairs(core.tensorNames) do
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
         -- from a view of a larger tensor
         local whole = torch.range(1, 15):type(typename)
         views = comm.unflatten(whole:narrow(1, 3, 13), list)
         assert.equal(3, views[1][1][1])
         assert.equal(15, views[4][1])
      end
      local one = torch.CudaTensor(2, 3):fill(1)
      assert.is_true(one:storage() == comm.flatten{one}:storage()) -- a single tensor is not copied
      assert.equal(0, comm.flatten{torch.CudaTensor()}:nElement())
      assert.error_matches(function() comm.flatten{} end, 'one tensor at least')
      assert.error_matches(function() comm.flatten{one, torch.CudaIntTensor(2)} end,
         'tensor 2 is a torch.CudaIntTensor, wanted a torch.CudaTensor')
      assert.error_matches(function() comm.unflatten(one, {one, one}) end, 'wanted .*12 elements')
      assert.error_matches(function() comm.unflatten(one:t(), {one}) end, 'not contiguous')
   end)
end)
