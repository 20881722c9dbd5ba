local dpt = require 'dpt'
local torch, nn, cutorch, cudnn = dpt.torch, dpt.nn, dpt.cutorch, dpt.cudnn
local settings = require 'dpt.parallel.dispatch.state_settings'
local same = require 'spec.support.parallel'
local lib = require('dpt.ffi').lib

-- Name, getter on a replica, setter and values of each setting; the last value is the usual one.
local table_ = {
   {'default tensor type', function() return torch.getdefaulttensortype() end,
      torch.setdefaulttensortype, {'torch.FloatTensor', 'torch.DoubleTensor'}},
   {'threads of host operations', function() return torch.getnumthreads() end,
      torch.setnumthreads, {3, torch.getnumthreads()}},
   {'seed of the host', function() return torch.initialSeed() end, torch.manualSeed, {77, 5}},
   {'cudnn.benchmark', function() return dpt.cudnn.benchmark end,
      function(v) cudnn.benchmark = v end, {true, false}},
   {'cudnn.fastest', function() return dpt.cudnn.fastest end,
      function(v) cudnn.fastest = v end, {true, false}},
   {'cudnn.verbose', function() return dpt.cudnn.verbose end,
      function(v) cudnn.verbose = v end, {true, false}},
   {'deterministic', function() return require('dpt.ffi').C.dpt_deterministic_get() end,
      function(v) dpt.setDeterministic(v == 1) end, {1, 0}},
   {'current streams', function(_, i)
      local slot, list = require('ffi').new 'int[1]', {}
      for device = 1, require('dpt').cutorch.getDeviceCount() do
         require('dpt.ffi').lib.stream_get(device, slot)
         list[device] = slot[0]
      end
      return list[i] .. ' ' .. table.concat(list, ' ')
   end, function(v)
      cutorch.reserveStreams(2)
      cutorch.setStream(v == 0 and 0 or 1)
      if v == 2 then lib.stream_set(2, 2) end
   end, {1, 2, 0}, function(v, i)
      local list = {}
      for device = 1, cutorch.getDeviceCount() do
         list[device] = v == 2 and device == 2 and 2 or v == 0 and 0 or 1
      end
      return list[i] .. ' ' .. table.concat(list, ' ')
   end},
   {'train', function(replica) return replica.train end, function(v, many)
      if v then many:training() else many:evaluate() end
   end, {false, true}},
   {'current device', function() return cutorch.getDevice() end, cutorch.setDevice, {2, 1},
      function(_, i) return i end},
}

same.dispatched('dpt.parallel.dispatch.state_settings', function()
   local n = same.most(4)
   local many

   setup(function()
      cutorch.setDevice(1)
      many = nn.DataParallelTable(1, true)
         :add(nn.Sequential():add(nn.Linear(3, 3)):cuda(), same.range(n))
      many:forward(torch.CudaTensor(n, 3):fill(1))
   end)

   for _, mode in ipairs(table_) do
      local name, look, set, values, wanted = unpack(mode)
      it('G15: copies to every replica: ' .. name, function()
         if n < 2 then return pending('needs 2 devices') end
         finally(function() set(values[#values], many) end)
         for _ = 1, 2 do
            for _, value in ipairs(values) do
               set(value, many)
               for i, seen in ipairs(many.impl:exec(look)) do
                  assert.equal(wanted and wanted(value, i) or not wanted and value, seen)
               end
            end
         end
      end)
   end

   it('copies them also after an error', function()
      torch.setdefaulttensortype 'torch.FloatTensor'
      finally(function() torch.setdefaulttensortype 'torch.DoubleTensor' end)
      pcall(many.impl.exec, many.impl, function(_, i) if i == n then error('no') end end)
      local names = many.impl:exec(function() return torch.getdefaulttensortype() end)
      for i = 1, n do assert.equal('torch.FloatTensor', names[i]) end
   end)

   it('applies a seed, and replicas draw different numbers', function()
      local function draw()
         local list = many.impl:exec(function() return torch.uniform() end)
         for i = 1, #list do
            for k = 1, i - 1 do assert.not_equal(list[k], list[i]) end
         end
         return list
      end
      torch.manualSeed(9)
      local first = draw()
      local second = draw()
      assert.not_equal(first[n], second[n])
      torch.manualSeed(9)
      assert.same(first, draw())
      assert.same(second, draw())
   end)
end)

describe('dpt.parallel.dispatch.state_settings', function()
   it('returns the previous snapshot if nothing has changed', function()
      local first = settings.get()
      assert.equal(first, settings.get(first))
      torch.setdefaulttensortype 'torch.FloatTensor'
      local second = settings.get(first)
      torch.setdefaulttensortype 'torch.DoubleTensor'
      assert.not_equal(first, second)
      assert.same(first, settings.get(second))
      assert.equal(#settings.list, #first)
   end)

   it('has no setting that this spec omits', function()
      local names = {}
      for _, mode in ipairs(table_) do names[mode[1]] = true end
      for _, mode in ipairs(settings.list) do assert.is_true(names[mode.name], mode.name) end
   end)
end)
