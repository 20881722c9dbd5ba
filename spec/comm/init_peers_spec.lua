local dpt = require 'dpt'
local lib = require('dpt.ffi').lib
local torch, cutorch, comm, nn = dpt.torch, dpt.cutorch, dpt.comm, dpt.nn
local same = require 'spec.support.parallel'

describe('Between devices,', function()
   local count = same.most(4)
   local devices = same.range(count)

   local function eachPair(f)
      for i = 1, count do
         for k = 1, count do
            if i ~= k then f(i, k) end
         end
      end
   end

   local function on(device, f) return cutorch.withDevice(device, f) end

   -- Runs all operations that transfer between devices; returns their results as one list.
   local function traffic()
      torch.manualSeed(5)
      local t = torch.randn(7, 6):cuda()
      local others = {}
      for i = 1, count do others[i] = on(i, function() return torch.randn(300, 7):cuda() end) end
      local results = {comm.broadcast(t, devices), comm.reduceAdd(others, count),
         comm.scatter(t, devices), comm.gather(others, 2, count), t:t():clone()}
      -- copies of every layout between all pairs of devices
      eachPair(function(i, k)
         local from = on(i, function() return torch.randn(40, 30):cuda() end)
         local to = on(k, function() return torch.CudaTensor(30, 40):fill(0) end)
         to:copy(from:t())
         to:narrow(2, 3, 20):copy(from:t():narrow(2, 11, 20))
         local double = on(k, function() return torch.CudaDoubleTensor(10, 30) end)
         double:copy(from:narrow(1, 5, 10))
         table.insert(results, {from, to, double})
      end)
      results[#results + 1] = comm.allReduce(others)
      return results
   end

   it('B6: copies are correct for any pairs of devices without peer access', function()
      if count < 2 then return pending('needs 2 devices') end
      local expected = traffic()
      finally(function()
         eachPair(function(i, k) cutorch.setPeerToPeerAccess(i, k, true) end)
      end)
      eachPair(function(i, k)
         cutorch.setPeerToPeerAccess(i, k, false)
         same.bits(expected, traffic())
         if (i + k) % 2 == 0 then cutorch.setPeerToPeerAccess(i, k, true) end
      end)
      eachPair(function(i, k) cutorch.setPeerToPeerAccess(i, k, false) end)
      local before = same.copied()
      same.bits(expected, traffic())
      assert.is_true(same.copied() > before) -- still counted
   end)

   it('sums of devices with peer access have the same bits and copy nothing',
      function()
         if count < 3 then return pending('needs 3 devices') end
         local chunk = 2 ^ 20 -- elements of a launch; all devices share sums of four or more
         local function lists(n, size)
            torch.manualSeed(3)
            local all = {}
            for i = 1, n do
               local t = torch.FloatTensor(size):uniform(-1, 1)
               all[i] = on((i - 1) % count + 1, function() return t:cuda() end)
            end
            return all
         end
         local function sums()
            local results, copied = {}, {}
            for _, case in ipairs{{3, 4 * chunk + 77}, {3, 1001}, {70, 3000}} do
               local all = lists(unpack(case))
               cutorch.synchronizeAll()
               local before = same.copied()
               local sum = comm.reduceAdd(all, 2)
               copied[#copied + 1] = same.copied() - before
               results[#results + 1] = sum:float()
            end
            local all = lists(count, 240000)
            for _, t in ipairs(comm.allReduce(all)) do results[#results + 1] = t:float() end
            local parts = {}
            for i = 1, count do
               parts[i] = on(i, function() return torch.CudaTensor(240000 / count) end)
            end
            dpt.nccl.reduceScatter(all, parts)
            for _, t in ipairs(parts) do results[#results + 1] = t:float() end
            return results, copied
         end
         local expected, brought = sums()
         for _, bytes in ipairs(brought) do assert.is_true(bytes > 0) end
         finally(function() cutorch.setKernelPeerToPeerAccess(false) end)
         cutorch.setKernelPeerToPeerAccess(true)
         local results, copied = sums()
         same.bits(expected, results)
         local isEmulated = cutorch.getDeviceProperties(1).name:find 'emulated'
         if isEmulated and comm.transport() == 'copy' then
            assert.same({0, 0, 0}, copied)
         end
      end)

   it('B6: replicas without peer access train like others', function()
      if count < 2 then return pending('needs 2 devices') end
      local function train()
         torch.manualSeed(1)
         local net = nn.DataParallelTable(1, true):add(nn.Linear(6, 3):cuda(), devices)
         local input, target = torch.randn(9, 6):cuda(), torch.randn(9, 3):cuda()
         local criterion = nn.MSECriterion():cuda()
         for _ = 1, 3 do
            net:zeroGradParameters()
            criterion:forward(net:forward(input), target)
            net:backward(input, criterion:backward(net.output, target))
            net:updateParameters(0.1)
         end
         return (net:getParameters()):float()
      end
      local expected = train()
      finally(function()
         eachPair(function(i, k) cutorch.setPeerToPeerAccess(i, k, true) end)
      end)
      eachPair(function(i, k) cutorch.setPeerToPeerAccess(i, k, false) end)
      same.bits(expected, train())
   end)

   it('B4: operands of two devices raise an error that names both and the operation', function()
      if count < 2 then return pending('needs 2 devices') end
      local a = torch.CudaTensor(4, 4):fill(1)
      local b = on(2, function() return torch.CudaTensor(4, 4):fill(2) end)
      local index = on(2, function() return torch.CudaLongTensor{1, 2} end)
      local calls = {
         add = function() a:add(b) end,
         cmul = function() torch.cmul(a, a, b) end,
         mm = function() torch.mm(a, b, b) end,
         addmm = function() a:addmm(a, b) end,
         index = function() a:index(1, index) end,
         gt = function() torch.gt(torch.CudaByteTensor(4, 4), a, b) end,
         dot = function() a:dot(b) end,
         maskedFill = function() a:maskedFill(b:gt(0), 1) end,
         linear = function() nn.Linear(4, 2):cuda():forward(b) end,
         convolution = function()
            nn.SpatialConvolution(1, 1, 1, 1):cuda():forward(b:view(1, 4, 4))
         end,
      }
      for name, call in pairs(calls) do
         local ok, message = pcall(call)
         assert.is_false(ok, name)
         assert.matches(name, message, 1, true)
         assert.matches('torch.Cuda%a*Tensor on device 1', message)
         assert.matches('torch.Cuda%a*Tensor on device 2', message)
      end
      same.bits(torch.FloatTensor(4, 4):fill(1), a:float()) -- a has not changed
      a:copy(b) -- only copy works between devices
      assert.equal(32, a:sum())
   end)

   it('B4: a kernel on operands of two devices waits for the streams of both', function()
      if count < 2 then return pending('needs 2 devices') end
      finally(function()
         cutorch.setKernelPeerToPeerAccess(false)
         lib.delay_set(0)
      end)
      lib.delay_set(7) -- exposes a missing wait
      assert.is_false(cutorch.getKernelPeerToPeerAccess())
      cutorch.setKernelPeerToPeerAccess(true)
      assert.is_true(cutorch.getKernelPeerToPeerAccess())
      local n = 200000
      local a = torch.CudaTensor(n):fill(1)
      local b = on(2, function() return torch.CudaTensor(n):fill(0) end)
      for i = 1, 20 do -- each kernel waits for the other device's previous one
         b:fill(i)
         a:add(b)
         b:fill(-1)
         b:add(a)
      end
      assert.equal(211, a:min())
      assert.equal(211, a:max())
      assert.equal(210, b:min())
      assert.equal(2, b:getDevice())
      local product = torch.mm(a:view(400, 500), b:view(500, 400))
      assert.equal(1, product:getDevice())
      assert.equal(211 * 210 * 500, product:min())
      assert.error_matches(function() a:add(torch.FloatTensor(n)) end, 'torch.FloatTensor')
   end)
end)
