-- dpt.distributed.loader: batches made by threads (includes dpt.distributed.loading).
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local dptffi = require 'dpt.ffi'
local distributed = require 'dpt.distributed'

describe('dpt.distributed.loader', function()
   local data = torch.range(1, 23):float()

   local function make(indices)
      if indices:nElement() == 0 then return torch.FloatTensor(0), {torch.LongTensor(0)} end
      return data:index(1, indices), {indices, noise = torch.rand(1)[1]}
   end

   local function sampler() return distributed.sampler(23, {batch = 4, seed = 5}) end

   -- Returns the remaining rows of an epoch, and the noise of each batch.
   local function run(loader, most)
      local rows, noise = {}, {}
      for input, other in loader:epoch() do
         assert.same(input:float():totable(), other[1]:double():totable())
         assert.equal(loader.count, input:nElement())
         for _, row in ipairs(input:float():totable()) do rows[#rows + 1] = row end
         noise[#noise + 1] = other.noise
         if #noise == most then break end
      end
      return rows, noise
   end

   local function expected(epochs)
      local one, rows = sampler(), {}
      for e = 1, epochs do
         rows[e] = {}
         for indices in one:epoch() do
            for _, row in ipairs(indices:totable()) do table.insert(rows[e], row) end
         end
      end
      return rows
   end

   it("returns the sampler's batches in order, epoch by epoch", function()
      local wanted, draws = expected(2), nil
      for _, options in ipairs{{threads = 1, ahead = 1}, {threads = 3}, {device = 0, ahead = 9}} do
         local loader = distributed.loader(sampler(), make, options)
         local first, noise = run(loader)
         assert.same(wanted[1], first)
         assert.same(wanted[2], (run(loader)))
         draws = draws or noise
         assert.same(draws, noise) -- whichever worker drew it
         loader:close()
         loader:close()
         assert.error_matches(function() loader:next() end, 'distributed.loader: it was closed')
      end
   end)

   it('draws new numbers for each batch, for any seed', function()
      for _, seed in ipairs{2 ^ 25, 1700000000, 1700000000123} do
         local loader = distributed.loader(distributed.sampler(23, {batch = 1, seed = seed}), make)
         local _, noise = run(loader)
         loader:close()
         table.sort(noise)
         for i = 2, #noise do assert.not_equal(noise[i - 1], noise[i]) end
      end
   end)

   it('leaves its sampler after the last returned batch when it is closed', function()
      local wanted, one = expected(1)[1], sampler()
      local loader = distributed.loader(one, make, {ahead = 3})
      local rows = run(loader, 2)
      loader:close()
      for indices in one:epoch() do
         for _, row in ipairs(indices:totable()) do table.insert(rows, row) end
      end
      assert.same(wanted, rows)
      loader = distributed.loader(one, make)
      loader:next()
      local moved = {n = 23, position = 8}
      one:load(moved)
      loader:close()
      assert.equal(8, one:state().position)
   end)

   it('hands over tensors of the device, made in threads', function()
      if cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local loader = distributed.loader(sampler(), make)
      local before = cutorch.getStream()
      local input, other = loader:next()
      assert.equal('torch.CudaTensor', input:type())
      assert.equal('torch.CudaLongTensor', other[1]:type())
      assert.equal(cutorch.getDevice(), input:getDevice())
      assert.equal(before, cutorch.getStream())
      loader:close()
   end)

   it("copies from each worker's page-locked memory to its device", function()
      if cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local loader = distributed.loader(distributed.sampler(40, {batch = 1}), function(indices)
         local n = 1e5 - indices[1] * 1000
         require('dpt.device').setStream(0) -- copies still use the loader's own stream
         return torch.ByteTensor(n):fill(indices[1]), {torch.FloatTensor(1):fill(indices[1]),
            torch.BFloat16Tensor(1):fill(indices[1])}, _G.made, _G.streams
      end, {threads = 2, init = function()
         local device = require 'dpt.device'
         _G.made, _G.streams = 0, {}
         device.getDeviceProperties = function() return {integrated = 0} end
         local own, class = device.getStream(), torch.getmetatable 'torch.CudaByteTensor'
         local copy = class.copyAsync
         class.copyAsync = function(...)
            _G.streams[device.getStream() == own] = true
            return copy(...)
         end
         for _, kind in ipairs{'Byte', 'Float', 'BFloat16'} do
            local name = 'createCudaHost' .. kind .. 'Tensor'
            local create = device[name]
            device[name] = function(...)
               _G.made = _G.made + 1
               return create(...)
            end
         end
      end})
      local batches, most, streams = 0, 0, {}
      for input, other, made, used in loader:epoch() do
         batches, most = batches + 1, math.max(most, made)
         for own in pairs(used) do streams[own] = true end
         assert.equal(input:min(), other[1][1])
         assert.equal(input:max(), other[1][1])
         assert.equal('torch.CudaBFloat16Tensor', other[2]:type())
         assert.equal(input:max(), other[2][1])
      end
      assert.same({40, 3, {[true] = true}}, {batches, most, streams})
      loader:close()
   end)

   it('makes no page-locked copy for a device in the memory of the host', function()
      if cutorch.getDeviceCount() == 0 or cutorch.getDeviceProperties(1).integrated == 0 then
         return pending 'there is no such device'
      end
      local loader = distributed.loader(distributed.sampler(4, {batch = 1}), function(indices)
         return torch.FloatTensor(3):fill(indices[1])
      end, {threads = 1, init = function()
         require('dpt.device').createCudaHostFloatTensor = function() error 'a copy' end
      end})
      local sum = 0
      for input in loader:epoch() do sum = sum + input:sum() end
      assert.equal(30, sum)
      loader:close()
   end)

   it('makes batches in the background: who trains gets a core at once', function()
      local loader = distributed.loader(distributed.sampler(1), function()
         local ffi = require 'ffi'
         ffi.cdef 'int sched_getscheduler(int);'
         return ffi.C.sched_getscheduler(0)
      end, {threads = 1, device = 0})
      assert.equal(3, (loader:next())) -- SCHED_BATCH
      loader:close()
   end)

   it('resumes in the middle of an epoch, after the last returned batch', function()
      local whole, draws = run(distributed.loader(sampler(), make, {ahead = 3}))
      local loader = distributed.loader(sampler(), make, {ahead = 5})
      assert.same({n = 23, batch = 4, seed = 5, shuffle = true, dropLast = false,
         current = 1, position = 0}, loader:state())
      local rows, noise = run(loader, 2)
      local state = torch.deserialize(torch.serialize(loader:state()))
      assert.equal(8, state.position)
      local function goesOn(other)
         local rest, more = run(other:load(state))
         for i = 1, 8 do table.insert(rest, i, rows[i]) end
         for i = 1, 2 do table.insert(more, i, noise[i]) end
         assert.same({whole, draws}, {rest, more})
      end
      goesOn(loader)
      goesOn(distributed.loader(sampler(), make))
      local plain = {} -- the remaining rows of a plain sampler
      for indices in sampler():load(state):epoch() do
         for _, row in ipairs(indices:totable()) do plain[#plain + 1] = row end
      end
      assert.same({unpack(whole, 9)}, plain)
   end)

   it("keeps the script's options while batches are in flight", function()
      local state = {n = 23, batch = 4, seed = 5, shuffle = true, dropLast = false,
         current = 2, position = 8}
      local loader = distributed.loader(distributed.sampler(23, {batch = 6, seed = 5}), make,
         {threads = 2, ahead = 5})
      loader:next()
      local rows = run(loader:load(state), 1)
      assert.equal(14, loader:state().position)
      assert.equal(6, loader:state().batch)
      for _, row in ipairs((run(loader))) do rows[#rows + 1] = row end
      assert.same({unpack(expected(2)[2], 9)}, rows)
      loader:close()
      assert.same({6, 3, 0}, {loader.sampler.batch, loader.sampler.current,
         loader.sampler.position})
   end)

   it('leaves out a last batch of fewer rows, as its sampler does', function()
      local loader = distributed.loader(distributed.sampler(10, {batch = 4, dropLast = true}),
         function(indices) return indices end, {threads = 2, ahead = 5, device = 0})
      for epoch = 1, 2 do
         local sizes = {}
         for indices in loader:epoch() do sizes[#sizes + 1] = indices:nElement() end
         assert.same({4, 4}, sizes)
         assert.equal(loader.sampler:steps(), #sizes)
         assert.equal(epoch + 1, loader:state().current)
      end
      loader:close()
   end)

   it("makes the next epoch's first batches at the end of one", function()
      local made = torch.IntTensor(1):zero()
      local loader = distributed.loader(sampler(), function(indices)
         made[1] = made[1] + 1
         return make(indices)
      end, {threads = 1, ahead = 3, device = 0})
      local wanted = expected(3)
      assert.same(wanted[1], (run(loader)))
      for _ = 1, 2000 do
         if made[1] >= 9 then break end
         dptffi.C.dpt_sleep(0.001)
      end
      assert.equal(9, made[1]) -- 6 + 3
      assert.same({2, 0}, {loader:state().current, loader:state().position})
      assert.same(wanted[2], (run(loader)))
      loader:load(loader.sampler:state()) -- the end of the prepared batches, not their start
      assert.equal(12, loader:state().position)
      assert.same({unpack(wanted[3], 13)}, (run(loader)))
      loader:close()
   end)

   it('follows a sampler that a script moves', function()
      local own = sampler()
      local start, loader = own:state(), distributed.loader(own, make, {ahead = 3})
      local wanted = expected(1)
      run(loader, 3)
      own:load(start)
      assert.same(start, loader:state())
      assert.same(wanted[1], (run(loader)))
      own:load(start)
      assert.same(wanted[1], (run(loader)))
      loader:close()
   end)

   it('does not wait for work queued on the default stream', function()
      if cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local loader = distributed.loader(sampler(), make)
      loader:next()
      cutorch.synchronizeAll()
      local ended = dptffi.C.dpt_clock() + 1
      cutorch.streamSleep(1000)
      for _ = 1, 5 do loader:next() end
      assert.is_true(dptffi.C.dpt_clock() < ended)
      cutorch.synchronizeAll()
      loader:close()
   end)

   it('reports a function that has returned nothing', function()
      for _, nothing in ipairs{function() end, function() return nil, 3 end} do
         local loader = distributed.loader(sampler(), nothing, {threads = 1, device = 0})
         assert.error_matches(function() loader:next() end,
            'distributed.loader: batch 1 of epoch 1: the function of [^ ]*loader_spec.lua:%d+ has'
               .. ' returned n%a+.*is a return missing')
         loader:close()
      end
   end)

   it('names the worker and the batch of an error, and continues', function()
      local loader = distributed.loader(sampler(), function(indices)
         for i = 1, indices:nElement() do
            if indices[i] == 7 then error 'a bad picture' end
         end
         return indices
      end, {threads = 2, device = 0})
      local wrong, right = 0, 0
      while true do
         local ok, value = pcall(loader.next, loader)
         if not ok then
            assert.matches('distributed.loader: worker %d, batch %d of epoch 1: .*a bad picture',
               value)
            wrong = wrong + 1
         elseif value then right = right + 1
         else break end
      end
      assert.same({1, 5}, {wrong, right})
   end)

   it('is a sampler for nn.DistributedDataParallel', function()
      local loader = distributed.loader(sampler(), make, {device = 0})
      local net = nn.DistributedDataParallel(nn.Linear(1, 1):float(), {sampler = loader})
      local input = loader:next()
      assert.equal(4, net:forward(input:view(-1, 1)):size(1))
      assert.same({4, 0, 4}, {loader.count, loader.before, loader.total})
   end)

   it('calls init in each worker, and reports wrong arguments', function()
      local loader = distributed.loader(sampler(), function(indices)
         return indices, _G.number -- luacheck: ignore
      end, {threads = 2, device = 0, init = function(i) _G.number = i end})
      local seen = {}
      for _, number in loader:epoch() do seen[number] = true end
      assert.same({true, true}, seen)
      local function wrong(message, ...)
         local arguments = {...}
         assert.error_matches(function() distributed.loader(unpack(arguments, 1, 3)) end, message,
            1, true)
      end
      wrong('wants what distributed.sampler returned as argument 1, got number', 3)
      wrong('wants a function as argument 2, got nil', sampler())
      wrong('wants a table of options as argument 3, got number', sampler(), make, 2)
      wrong('there is no option workers, wanted ahead, device, init or threads', sampler(), make,
         {workers = 2})
      wrong('option threads wants how many workers there are, 1 at least, got 0', sampler(), make,
         {threads = 0})
      wrong("option device wants a device's number", sampler(), make, {device = -1})
   end)
end)
