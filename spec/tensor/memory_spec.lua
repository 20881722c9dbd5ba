-- Ownership: references keep memory alive, and garbage is freed.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'

local function live() return tonumber(dptffi.C.dpt_host_live_bytes()) end
local function collect() collectgarbage() collectgarbage() end

describe('Memory', function()
   it('of a tensor is freed with its last view', function()
      collect()
      local before = live()
      local held = {x = torch.FloatTensor(1000)}
      held.view, held.storage = held.x:narrow(1, 2, 3), held.x:storage()
      for _, name in ipairs{'x', 'view', 'storage'} do
         assert.equal(before + 4000, live())
         held[name] = nil
         collect()
      end
      assert.equal(before, live())
   end)

   it('stays bounded though the collector cannot see it', function()
      collect()
      local before = live()
      local most = 0
      for _ = 1, 3000 do
         torch.FloatTensor(262144) -- 1 MiB; 3000 MiB in total
         most = math.max(most, live())
      end
      assert.is_true(most - before < 600 * 2 ^ 20, most)
      collect()
      assert.equal(before, live())
   end)

   it('stays bounded though each of several workers has garbage', function()
      local pool = require('threads').Threads(4, function() require 'dpt' end)
      local function litter() for _ = 1, 4000 do require('torch').FloatTensor(262144) end end
      for _ = 1, 4 do pool:addjob(litter) end -- 1 MiB each; 4000 MiB in every worker
      collect()
      local before, most = live(), 0
      while pool:hasjob() do
         pool:dojob()
         most = math.max(most, live())
      end
      pool:terminate()
      assert.is_true(most - before < 1500 * 2 ^ 20, most)
   end)

   it('of a storage view keeps its parent', function()
      local v = torch.FloatStorage(torch.FloatStorage{1, 2, 3, 4}, 2, 2)
      collect()
      assert.same({2, 3}, v:totable())
      assert.error_matches(function() v:resize(5) end, 'fixed')
   end)

   it('does not move under a storage view', function()
      local s = torch.FloatStorage{1, 2, 3, 4}
      local v = torch.FloatStorage(s, 2, 2)
      assert.error_matches(function() s:resize(500) end, 'fixed')
      assert.error_matches(function() torch.FloatTensor(s):resize(500) end, 'fixed')
      v[1] = 9
      assert.equal(9, s[2])
   end)

   it('is freed if a constructor fails', function()
      collect()
      local before = live()
      assert.is_false(pcall(torch.FloatTensor, {{1, 2}, {3}}))
      assert.is_false(pcall(torch.FloatTensor, 2 ^ 60))
      collect()
      assert.equal(before, live())
   end)

   it('that garbage holds on a device is freed if memory is short', function()
      collect()
      cutorch.synchronize()
      local device = cutorch.getDevice()
      local x = torch.CudaTensor(2 ^ 18):fill(1)
      cutorch.setMemoryLimit(device, 64 * 2 ^ 20)
      local ok, why = pcall(function()
         for _ = 1, 200 do torch.CudaTensor(2 ^ 20):fill(0) end -- 4 MiB each
         assert.error_matches(function() x:resize(2 ^ 26) end, 'out of memory on device')
         assert.equal(2 ^ 18, x:sum())
         assert.equal(2 ^ 19, torch.cat(x, x):sum())
      end)
      cutorch.setMemoryLimit(device, 0)
      assert.is_true(ok, why)
   end)

   it("that kernels use is counted as the device's", function()
      local device = cutorch.getDevice()
      local function stats() return cutorch.memoryStats(device) end
      local x = torch.CudaTensor(2 ^ 14):uniform()
      local values, places = torch.sort(x)
      cutorch.synchronize()
      collect()
      cutorch.emptyCache()
      cutorch.resetPeakMemory(device)
      local before = stats()
      torch.sort(values, places, x)
      assert.is_true(stats().peak > before.live)
      assert.equal(before.blocks, stats().blocks)
      cutorch.emptyCache()
      assert.equal(before.cached, stats().cached)
      torch.CudaTensor(2 ^ 23) -- 32 MiB of garbage: cached memory fills the limit
      collect()
      local full = stats()
      cutorch.setMemoryLimit(device, full.live + full.cached)
      local ok, why = pcall(function()
         torch.sort(values, places, x)
         cutorch.synchronize()
      end)
      cutorch.setMemoryLimit(device, 0)
      assert.is_true(ok, why)
      assert.equal(full.segments, stats().segments) -- the kernel used cached memory
      assert.is_true(values[1] <= values[2] and values[1] == x:min())
   end)

   it('that cannot be allocated once is requested again', function()
      dptffi.lib.fault_set('malloc:1')
      local ok, x = pcall(torch.FloatTensor, 1000)
      dptffi.lib.fault_set('')
      assert.is_true(ok, x)
      assert.equal(1000, x:nElement())
   end)
end)
