-- A call that runs out of memory is retried after a garbage collection, and only if it has changed
-- nothing: if any one allocation fails, the results equal those of a run without failures.
local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local lib = require('dpt.ffi').lib

describe('A call whose allocation fails once', function()
   local count = math.min(cutorch.getDeviceCount(), 4)
   local N = 2 ^ 19 -- 2 MB: several devices share the sum

   local function ones()
      local list = {}
      for i = 1, count do
         cutorch.withDevice(i, function() list[i] = torch.CudaTensor(N):fill(i) end)
      end
      cutorch.synchronizeAll()
      return list
   end

   after_each(function() lib.fault_set '' end)

   --- Calls f with each of its first allocations failing in turn; check tests the state it leaves.
   local function each(allocations, prepare, f, check)
      for k = 1, allocations do
         collectgarbage()
         local state = prepare()
         lib.fault_set('malloc:' .. k)
         f(state)
         lib.fault_set ''
         cutorch.synchronizeAll()
         if check then check(state, k) end
      end
   end

   local function is(value, t, k)
      assert.same({value, value}, {t:min(), t:max()}, 'allocation ' .. k)
   end

   it('adds each summand once to a sum', function()
      each(2 * count, ones, function(list)
         comm.reduceInto({list[1]}, {unpack(list, 2)})
      end, function(list, k) is(count * (count + 1) / 2, list[1], k) end)
   end)

   it('adds each summand once to sums in place', function()
      each(2 * count, ones, function(list) comm.allReduce(list) end, function(list, k)
         for i = 1, count do is(count * (count + 1) / 2, list[i], k) end
      end)
   end)

   local places = {
      host = function(t) return t end,
      device = function(t) return t:cuda() end,
   }
   for name, new in pairs(places) do
      it('draws no random number twice, on the ' .. name, function()
         local p = new(torch.rand(600))
         local list = new(torch.rand(600)):long():type(name == 'host' and 'torch.LongTensor'
            or 'torch.CudaLongTensor')
         local function seed()
            torch.manualSeed(7)
            cutorch.manualSeed(7)
         end
         local function next_() return new(torch.Tensor(1)):uniform()[1] end
         for _, draw in ipairs{function() return list:randperm(600) end,
            function() return p.multinomial(p, 600, true) end,
            function() return p.multinomial(p, 3) end} do
            seed()
            local wanted, after = draw():totable(), next_()
            for k = 1, 8 do
               seed()
               lib.fault_set('malloc:' .. k)
               local ok, got = pcall(draw)
               lib.fault_set ''
               if ok then
                  assert.same(wanted, got:totable())
                  assert.equal(after, next_())
               else
                  assert.matches('memory', got)
               end
            end
         end
      end)
   end
end)
