-- dpt.parallel.params.buffers: synchronizes running statistics of the replicas.
local dpt = require 'dpt'
local nn, cutorch, comm = dpt.nn, dpt.cutorch, dpt.comm
local Buffers = require 'dpt.parallel.params.buffers'

describe('dpt.parallel.params.buffers', function()
   local n = math.min(cutorch.getDeviceCount(), 3)
   local list, bytes, buffers, dispatcher

   before_each(function()
      list, bytes = {}, {buffers = 0}
      for i = 1, n do
         list[i] = cutorch.withDevice(i, function()
            return nn.Sequential():add(nn.BatchNormalization(4)):cuda()
         end)
      end
      dispatcher = {run = function(_, f)
         local results = {}
         for i, replica in ipairs(list) do results[i] = f(replica, i) end
         return results
      end}
      buffers = Buffers.new(bytes)
      buffers:setReplicas(dispatcher)
      buffers:takeSnapshot()
   end)

   local function mean(i) return list[i]:get(1).running_mean end

   it('collects statistics on devices, shared ones once', function()
      local norm = list[1]:get(1)
      assert.same({norm.running_mean, norm.running_var}, Buffers.collect(list[1]))
      list[1]:add(norm)
      assert.equal(2, #Buffers.collect(list[1]))
      assert.same({}, Buffers.collect(nn.BatchNormalization(4):float()))
   end)

   it("copies replica 1's only if they have changed #devices2", function()
      mean(n):fill(7)
      buffers:sync(list[1], dispatcher, 'first')
      assert.equal(0, bytes.buffers) -- replica 1's have not changed
      mean(1):fill(3)
      buffers:sync(list[1], dispatcher, 'first')
      assert.equal(12, mean(n):sum())
      assert.equal((n - 1) * 2 * 4 * 4, bytes.buffers)
      buffers:sync(list[1], dispatcher, 'first')
      assert.equal((n - 1) * 2 * 4 * 4, bytes.buffers)
   end)

   it('averages those that have changed #devices2', function()
      mean(1):fill(1)
      mean(2):fill(4)
      buffers:sync(list[1], dispatcher, 'average')
      for i = 1, n do assert.equal(10, mean(i):sum()) end
   end)

   it("copies a script's writes to replica 1's before the next pass #devices2", function()
      mean(1):fill(5)
      buffers:broadcastWritten()
      assert.equal(20, mean(n):sum())
      local before = comm.version{mean(n)}
      buffers:broadcastWritten()
      assert.equal(before, comm.version{mean(n)})
   end)

   it('raises if a replica has other statistics #devices2', function()
      list[2]:add(nn.BatchNormalization(2):cuda())
      mean(1):fill(1)
      assert.error_matches(function() buffers:sync(list[1], dispatcher, 'first') end,
         'replica 2 has 4 running statistics, replica 1 has 2')
   end)
end)
