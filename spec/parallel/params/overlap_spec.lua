local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local buckets = require 'dpt.parallel.params.buckets'
local modules = require 'spec.support.modules'
local networks = require 'spec.support.overlap'
local same = require 'spec.support.parallel'
local lib = dptffi.lib

describe('dpt.parallel.params.overlap', function()
   local most = same.most(8)
   local n = math.min(most, 4)
   local limits = {buckets.first, buckets.rest}

   same.seeded(5)
   before_each(function()
      buckets.first, buckets.rest = 48 * 4, 60 * 4 -- one or two layers per bucket
   end)
   after_each(function() buckets.first, buckets.rest = unpack(limits) end)

   -- Returns two parallel copies of a network, the second without overlap.
   local function pair(net, count)
      local both = {}
      for i = 1, 2 do
         both[i] = nn.DataParallelTable(1, true):add(net:clone(), same.range(count or n))
      end
      both[2].overlap = false
      return both[1], both[2]
   end

   local function step(many, input, gradOutput, method)
      if method then
         many:forward(input)
         many:updateGradInput(input, gradOutput)
         many:accGradParameters(input, gradOutput, 0.5)
      else
         same.pass(many, input, gradOutput, 0.5)
      end
      return select(2, many:getParameters())
   end

   -- Runs steps on both, after each of which gradients and gradInput have the same bits.
   local function agree(with, without, steps, rows)
      local split = not with:get(1):findModules('dptspec.Whole')[1]
      for i = 1, steps do
         local input = torch.randn((rows or {})[i] or 3 * n, 6):cuda()
         local gradOutput = input:clone():normal()
         local method = split and i % 3 == 0
         local got, wanted = step(with, input, gradOutput, method),
            step(without, input, gradOutput, method)
         same.bits(wanted, got)
         same.bits(without.gradInput, with.gradInput)
         if i % 2 == 0 then
            with:getParameters():add(-0.1, got)
            without:getParameters():add(-0.1, wanted)
            with:zeroGradParameters()
            got:zero()
            wanted:zero()
         end
      end
      same.checkReplicas(with)
   end

   -- Returns how often f calls a function of the reducer.
   local function count(name, f)
      local original, calls = lib[name], 0
      rawset(lib, name, function(...)
         calls = calls + 1
         return original(...)
      end)
      local ok, message = pcall(f)
      rawset(lib, name, original)
      if not ok then error(message, 0) end
      return calls
   end

   for name, make in pairs(networks) do
      it('returns the bits of a reduction at the end: ' .. name, function()
         for devices = 2, most do
            local with, without = pair(make():cuda(), devices)
            agree(with, without, 7, {2 * devices + 1, 1, devices, devices - 1, 3 * devices})
         end
      end)

      it('returns them with random delays in the streams #notsan: ' .. name, function()
         if most < 2 then return pending('needs 2 devices') end
         finally(function() lib.delay_set(0) end)
         lib.delay_set(tonumber(os.getenv 'DPT_SEED') or 7)
         local with, without = pair(make():cuda())
         agree(with, without, 4)
      end)
   end

   it('returns them in other types and with networks of two types', function()
      if n < 2 then return pending('needs 2 devices') end
      local net = networks.deep():cudaDouble()
      local both = {}
      for i = 1, 2 do
         both[i] = nn.DataParallelTable(1, true):type('torch.CudaDoubleTensor')
            :add(net:clone(), same.range(n))
      end
      both[2].overlap = false
      for _ = 1, 3 do
         local input = torch.randn(2 * n, 6):cudaDouble()
         same.bits(step(both[2], input, input), step(both[1], input, input))
      end
      local mixed = nn.Sequential():add(nn.Linear(6, 6):cuda())
         :add(nn.Copy('torch.CudaTensor', 'torch.CudaDoubleTensor'))
         :add(nn.Linear(6, 6):cudaDouble())
         :add(nn.Copy('torch.CudaDoubleTensor', 'torch.CudaTensor')):add(nn.Linear(6, 6):cuda())
      local with, without = pair(mixed)
      for _ = 1, 3 do
         local input = torch.randn(2 * n, 6):cuda()
         for _, many in ipairs{with, without} do same.pass(many, input, input) end
         same.bits(without.flattenedParams[1][2], with.flattenedParams[1][2])
         same.bits(without.flattenedParams[1][4], with.flattenedParams[1][4])
      end
      assert.is_truthy(with.params.overlap)
   end)

   it('marks every bucket once from the second pass on, for any number of layers', function()
      if n < 2 then return pending('needs 2 devices') end
      -- layers of 168 bytes: one per bucket, two per bucket, or all in one, which has no overlap
      for limit, expected in pairs{[48 * 4] = 5, [340] = 3, [1e6] = 0} do
         buckets.first, buckets.rest = limit, limit
         local many = pair(networks.deep():cuda())
         local input = torch.randn(2 * n, 6):cuda()
         local function again() step(many, input, input) end
         assert.equal(0, count('reducer_bucket_ready', again))
         assert.equal(expected * n, count('reducer_bucket_ready', again))
         assert.equal(0, count('reducer_invalidate', again))
      end
   end)

   it('moves the bytes of the parameters and keeps no copy of gradients', function()
      if n < 2 then return pending('needs 2 devices') end
      buckets.first, buckets.rest = unpack(limits)
      local with, without = pair(nn.Sequential():add(nn.Linear(6, 300)):add(nn.Linear(300, 700))
         :add(nn.Linear(700, 6)):cuda())
      local input = torch.randn(2 * n, 6):cuda()
      local live = {}
      for k, many in ipairs{with, without} do
         step(many, input, input)
         cutorch.synchronizeAll()
         collectgarbage()
         collectgarbage()
         local before, live0 = same.copied(), {}
         for i = 1, n do live0[i] = same.liveBytes(i) end
         many:backward(input, input)
         cutorch.synchronizeAll()
         live[k] = {}
         for i = 1, n do live[k][i] = same.liveBytes(i) - live0[i] end
         local flat = many:getParameters()
         -- gradOutput and gradInput are copied too, except the first device's part
         local rows = 2 * (input:nElement() - input:nElement() / n) * 4
         assert.equal((n - 1) * flat:nElement() * 4 + rows, same.copied() - before)
         assert.equal(2 * (n - 1) * flat:nElement() * 4, many.copiedBytes.gradients)
      end
      assert.same(live[2], live[1])
   end)

   it('begins during the backward pass #notsan', function()
      if n < 2 then return pending('needs 2 devices') end
      local first = modules.Slow(6, 6)
      first.milliseconds = 0
      local many = pair(nn.Sequential():add(first):add(nn.Linear(6, 6)):add(nn.Linear(6, 6)):cuda())
      local input = torch.randn(2 * n, 6):cuda()
      step(many, input, input)
      local beside = cutorch.getNumStreams() + 1 -- a stream of another spec may wait for stream 0
      cutorch.reserveStreams(beside, true)
      finally(function() cutorch.setStream(0) end)
      -- Returns true if an idle stream sees the sum of the last layer before the busy ones finish.
      local function seen(milliseconds)
         many:get(1):get(3).gradBias:fill(0)
         cutorch.synchronizeAll()
         many.impl:exec(function(replica) replica:get(1).milliseconds = milliseconds end)
         many:forward(input)
         local busy, done = dptffi.ffi.new 'dpt_event', dptffi.ffi.new 'int[1]'
         many:backward(input, input)
         lib.event_record(busy, 1, 0)
         cutorch.setStream(beside)
         local wanted = input:sum(1):view(-1)
         local bias = many:get(1):get(3).gradBias
         repeat
            local there = (bias - wanted):abs():max() < 1e-4
            lib.event_query(busy, done)
         until there or done[0] == 1
         cutorch.setStream(0)
         cutorch.synchronizeAll()
         return done[0] == 0
      end
      -- a busy machine may poll too late
      assert.is_true(seen(200) or seen(800) or seen(3200) or seen(12800))
   end)

   it('removes its hooks from modules, also if a module raises', function()
      local net = nn.Sequential():add(nn.Linear(6, 6)):add(modules.Fuse()):add(nn.Linear(6, 6))
      local mine = function() end
      net:get(1).accGradParameters = mine
      local with, without = pair(net:cuda())
      local input = torch.randn(2 * n, 6):cuda()
      local function clean()
         for _, replica in ipairs(with.impl.modules) do
            for k = 1, 3 do assert.is_nil(rawget(replica:get(k), 'backward')) end
            assert.equal(mine, rawget(replica:get(1), 'accGradParameters'))
            assert.is_nil(rawget(replica:get(3), 'accGradParameters'))
         end
      end
      for round = 1, 2 * n do
         step(with, input, input)
         clean()
         local device = (round - 1) % n + 1
         local function arm(blows)
            with.impl:exec(function(replica) replica:get(2).blows = blows end)
         end
         arm{updateGradInput = {[device] = 'blown'}}
         assert.matches(('^In replica %d of %d.*: blown\n'):format(device, n),
            same.raised(with.backward, with, input, input))
         clean()
         arm{}
         same.zero(with, without)
         agree(with, without, 1)
      end
   end)

   it('sums gradients again if a layer is called more often than before', function()
      if n < 2 then return pending('needs 2 devices') end
      local with, without = pair(networks.recurrent():cuda())
      local function times(k)
         for _, many in ipairs{with, without} do
            many.impl:exec(function(replica) replica:get(2).times = k end)
         end
      end
      times(1)
      agree(with, without, 2)
      for _, k in ipairs{4, 2, 5} do
         times(k)
         local input = torch.randn(2 * n, 6):cuda()
         same.zero(with, without)
         local late = count('reducer_invalidate', function()
            same.close(step(without, input, input), step(with, input, input), 1e-6)
         end)
         assert.equal(k > 2, late > 0)
         same.zero(with, without)
         agree(with, without, 2) -- the new counts are known
      end
   end)

   -- Returns a network of linear layers with `middle` among them.
   local function around(middle)
      return nn.Sequential():add(nn.Linear(6, 6)):add(nn.Tanh()):add(middle):add(nn.Linear(6, 6))
         :add(nn.Linear(6, 6)):cuda()
   end

   -- Runs one step on both from zero; gradients have the same bits.
   local function agreeFromZero(with, without)
      local x = torch.randn(3 * n, 6):cuda()
      same.zero(with, without)
      same.bits(step(without, x, x), step(with, x, x))
   end

   it('waits for a container that later begins to change gradients', function()
      for _, place in ipairs{1, 3} do
         for first = 1, 4 do
            local net = around(nn.Linear(6, 6))
            net.modules[place] = modules.Late(net.modules[place], first):cuda()
            local with, without = pair(net)
            for _ = 1, 6 do agreeFromZero(with, without) end
         end
      end
   end)

   it('waits for a method that a script sets on a container later', function()
      local with, without = pair(around(nn.Sequential():add(nn.Linear(6, 6))))
      for _ = 1, 3 do agreeFromZero(with, without) end
      for _, many in ipairs{with, without} do
         many:get(1):get(3).backward = function(self, input, gradOutput, scale)
            local gradInput = nn.Sequential.backward(self, input, gradOutput, scale)
            self:get(1).gradWeight:zero()
            return gradInput
         end
      end
      for _ = 1, 3 do agreeFromZero(with, without) end
      assert.equal(0, with:get(1):get(3):get(1).gradWeight:ne(0):sum())
   end)

   it('raises once if a sum may have begun before another write', function()
      if n < 2 then return pending('needs 2 devices') end
      local stranger = modules.Stranger()
      stranger.first = 3
      local net = around(stranger)
      net:insert(nn.Linear(6, 6):cuda(), 3) -- computed after the stranger in backward
      stranger.victim = net:get(5)
      local with, without = pair(net)
      for _ = 1, 2 do agreeFromZero(with, without) end
      local x = torch.randn(3 * n, 6):cuda()
      step(without, x, x)
      assert.error_matches(function() step(with, x, x) end,
         'gradients were written to after their sum over the devices had begun')
      for _ = 1, 3 do agreeFromZero(with, without) end
   end)

   it('includes the pending gradients of noSync', function()
      local with, without = pair(networks.deep():cuda())
      local input = torch.randn(2 * n, 6):cuda()
      for _ = 1, 3 do
         local results = {}
         for k, many in ipairs{with, without} do
            many:zeroGradParameters()
            many:noSync(function() step(many, input, input) end)
            results[k] = step(many, input:narrow(1, 1, 1), input:narrow(1, 1, 1))
         end
         same.bits(results[2], results[1])
      end
      same.checkReplicas(with)
   end)

   it('also sums gradients in the memory of another network', function()
      if n < 2 then return pending('needs 2 devices') end
      local deep = networks.deep():cuda()
      deep:getParameters()
      local net = nn.Sequential():add(nn.Linear(6, 6):cuda()):add(deep:get(3)):add(deep:get(5))
         :add(nn.Linear(6, 6):cuda())
      local many = nn.DataParallelTable(1, true):add(net, same.range(n))
      local one = net:clone()
      for pass = 1, 3 do
         local input = torch.randn(2 * n, 6):cuda()
         local ready = count('reducer_bucket_ready', function()
            same.pass(many, input, input)
         end)
         assert.equal(pass > 1 and 4 * n or 0, ready)
         same.pass(one, input, input)
         same.close(select(2, one:parameters()), select(2, many:parameters()), 1e-5)
      end
      assert.is_false(many.params:isFlat())
      assert.is_true(net:get(2).weight:storage() == deep:get(1).weight:storage())
   end)

   it('is not used if replica 1 is not flat', function()
      local many = nn.DataParallelTable(1):add(networks.deep():cuda(), same.range(n))
      local input = torch.randn(2 * n, 6):cuda()
      for _ = 1, 2 do same.pass(many, input, input) end
      assert.is_nil(many.params.overlap)
   end)
end)
