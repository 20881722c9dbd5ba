-- Rows B2 to B8: problems reported with cutorch's memory, streams and copies (docs/user-issues.md).
-- B1 is in spec/c/allocator_spec.c, B6 in spec/comm/init_peers_spec.lua.
local dpt = require 'dpt'
local torch, nn, cutorch, comm = dpt.torch, dpt.nn, dpt.cutorch, dpt.comm
local lib = require('dpt.ffi').lib
local same = require 'spec.support.parallel'

local MiB = 2 ^ 20

local function collect()
   collectgarbage()
   collectgarbage()
end

describe('users of cutorch', function()
   local most = same.most(8)
   same.seeded(4)

   it('B2: the cache has a size, can be emptied, and is, before memory is short #devices2',
      function()
         finally(function() cutorch.setMemoryLimit(2, 0) end)
         cutorch.setDevice(2)
         collect()
         cutorch.emptyCache(2)
         local before = cutorch.memoryStats(2)
         local x = torch.CudaTensor(16 * MiB / 4):fill(1)
         assert.equal(before.live + 16 * MiB, cutorch.memoryStats(2).live)
         assert.equal(1, x[1])
         x = nil -- luacheck: ignore
         collect()
         local after = cutorch.memoryStats(2)
         assert.equal(before.live, after.live)
         assert.is_true(after.cached >= before.cached + 16 * MiB)
         assert.is_true(after.peak >= before.live + 16 * MiB)
         cutorch.emptyCache(2)
         assert.is_true(cutorch.memoryStats(2).cached <= before.cached)
         -- cached memory is released for blocks of another size
         torch.CudaTensor(16 * MiB / 4):fill(1)
         collect()
         cutorch.setMemoryLimit(2, before.live + before.cached + 24 * MiB)
         assert.equal(1, torch.CudaTensor(22 * MiB / 4):fill(1)[7])
         -- when all memory is used, the error lists how
         collect()
         local ok, message = pcall(torch.CudaTensor, 32 * MiB / 4)
         assert.is_false(ok)
         local asked, live, cached = message:match(
            'out of memory on device 2: (%d+) bytes asked, (%d+) live, (%d+) cached, the limit is')
         assert.equal(32 * MiB, tonumber(asked))
         assert.equal(cutorch.memoryStats(2).live, tonumber(live))
         assert.equal(cutorch.memoryStats(2).cached, tonumber(cached))
         assert.equal(5, torch.CudaTensor(5):fill(1):sum())
      end)

   it('B4: operands of two devices are an error naming both and what was done #devices2', function()
      local a = torch.CudaTensor(3):fill(1)
      local b = cutorch.withDevice(2, function() return torch.CudaDoubleTensor(3):fill(2) end)
      local c = cutorch.withDevice(2, function() return torch.CudaTensor(3):fill(2) end)
      for name, f in pairs{add = function() a:add(c) end, cmul = function() a:cmul(c) end,
         dot = function() return a:dot(c) end} do
         assert.error_matches(f, name .. ': got torch.Cuda%a* on device 1 with torch.CudaTensor on'
            .. ' device 2, wanted all on one device')
      end
      assert.is_false(cutorch.getKernelPeerToPeerAccess())
      a:copy(b) -- copies work between all devices and convert types
      assert.equal(6, a:sum())
      assert.equal(2, c:getDevice())
   end)

   it('B5: random delays of streams change no bit of a copy or a sum #devices2', function()
      finally(function()
         lib.delay_set(0)
         cutorch.setDefaultStream()
      end)
      cutorch.reserveStreams(2, true)
      local function train(stream, seed)
         torch.manualSeed(7)
         cutorch.setStream(stream)
         lib.delay_set(seed)
         local net = nn.Sequential():add(nn.Linear(6, 9)):add(nn.Tanh()):add(nn.Linear(9, 3)):cuda()
         local many = nn.DataParallelTable(1, true):add(net, same.range(most))
         local flat, gradient = many:getParameters()
         for step = 1, 6 do
            local x = torch.randn(3 * most - step, 6):float()
            many:zeroGradParameters()
            many:forward(step % 2 == 0 and x or x:cuda())
            many:backward(x, many.output)
            flat:add(-0.1, gradient)
         end
         local copies = comm.broadcast(flat, same.range(most))
         local result = {flat:float(), comm.reduceAdd(copies):float(), many.output:float()}
         lib.delay_set(0)
         cutorch.setDefaultStream()
         return result
      end
      local still = train(0, 0)
      for seed = 1, 5 do
         for stream = 0, 2 do same.bits(still, train(stream, seed * 97)) end
      end
   end)

   it('B8: the loop that was written by hand gives the same', function()
      local n, rows, rate = math.min(most, 4), 12, 0.1
      local function network()
         torch.manualSeed(5)
         return nn.Sequential():add(nn.Linear(6, 9)):add(nn.Tanh()):add(nn.Linear(9, 3)):cuda()
      end
      local criterion = nn.MSECriterion():cuda()
      local x, y = torch.randn(rows, 6):cuda(), torch.randn(rows, 3):cuda()
      -- by hand: a copy on each device, each with its rows
      local nets, params, grads = {}, {}, {}
      for i = 1, n do
         cutorch.setDevice(i)
         nets[i] = network()
         params[i], grads[i] = nets[i]:getParameters()
      end
      local function byHand()
         local share = rows / n
         for i = 1, n do
            cutorch.setDevice(i)
            local own = torch.CudaTensor(share, 6):copy(x:narrow(1, (i - 1) * share + 1, share))
            local target = torch.CudaTensor(share, 3):copy(y:narrow(1, (i - 1) * share + 1, share))
            local loss = nn.MSECriterion():cuda()
            grads[i]:zero()
            loss:forward(nets[i]:forward(own), target)
            nets[i]:backward(own, loss:backward(nets[i].output, target):div(n))
         end
         cutorch.setDevice(1)
         for i = 2, n do grads[1]:add(torch.CudaTensor(grads[1]:size()):copy(grads[i])) end
         params[1]:add(-rate, grads[1])
         for i = 2, n do params[i]:copy(params[1]) end
      end
      cutorch.setDevice(1)
      local many = nn.DataParallelTable(1, true):add(network(), same.range(n))
      local flat, gradient = many:getParameters()
      for _ = 1, 20 do
         byHand()
         many:zeroGradParameters()
         criterion:forward(many:forward(x), y)
         many:backward(x, criterion:backward(many.output, y))
         flat:add(-rate, gradient)
         same.close(params[1], flat, 1e-5)
      end
   end)
end)
