--- spec for threads.Queue: jobs added and removed by several threads.
local torch = require('dpt').torch
local threads = require 'threads'

describe('threads.Queue', function()
   it('runs jobs in order, each in the thread that takes it', function()
      local queue, factor = threads.Queue(3, 'threads.serialize'), 10
      assert.same({3, 1, 0}, {queue.size, queue.isempty, queue.isfull})
      for i = 1, 3 do queue:addjob(function(a, b) return a * factor, b end, i, 'x') end
      assert.same({3, 0, 1}, {queue.size, queue.isempty, queue.isfull})
      for i = 1, 3 do assert.same({i * 10, 'x'}, {queue:dojob()}) end
      queue:addjob(function(...) return select('#', ...) end, nil, nil)
      assert.equal(2, queue:dojob())
      queue:addjob(function() error('of a job', 0) end)
      assert.has_error(function() queue:dojob() end, 'of a job')
      assert.equal(1, queue.isempty)
   end)

   it('connects threads, which wait for space and for jobs', function()
      local tasks, answers = threads.Queue(2, 'threads.serialize'),
         threads.Queue(1, 'threads.serialize')
      local code = ([[
         local threads = require 'threads'
         local tasks, answers = require 'threads.queue'(%d), threads.Queue(%d)
         while true do
            local n = tasks:dojob()
            if not n then return end
            answers:addjob(function() return n * n end)
         end
      ]]):format(tasks:id(), answers:id())
      local list = {threads.Thread(code), threads.Thread(code)}
      local pool = threads.Threads(1)
      pool:addjob(function() -- a queue can also be an upvalue
         for i = 1, 50 do tasks:addjob(function() return i end) end
         for _ = 1, 2 do tasks:addjob(function() return false end) end
      end)
      local sum = 0
      for _ = 1, 50 do sum = sum + answers:dojob() end
      assert.equal(50 * 51 * 101 / 6, sum)
      pool:terminate()
      for _, thread in ipairs(list) do thread:free() end
   end)

   it('copies tensors or shares them, as its second argument says', function()
      for name, want in pairs{['threads.serialize'] = 0, ['threads.sharedserialize'] = 5} do
         local queue, x = threads.Queue(1, name), torch.zeros(2)
         queue:addjob(function(t) t:fill(5) end, x)
         threads.Queue(queue:id()):dojob()
         assert.equal(want, x[1])
      end
   end)

   it("keeps a job's values alive until the queue is freed", function()
      local dpt, queue = require 'dpt', threads.Queue(4, 'threads.sharedserialize')
      collectgarbage()
      collectgarbage()
      local before = tonumber(require('dpt.ffi').C.dpt_host_live_bytes())
      queue:addjob(function() end, torch.ByteTensor(1000))
      collectgarbage()
      collectgarbage()
      local C = require('dpt.ffi').C
      assert.equal(before + 1000, tonumber(C.dpt_host_live_bytes()))
      queue:free()
      assert.equal(before, tonumber(C.dpt_host_live_bytes()))
      assert.is_table(dpt)
   end)

   it('rejects values that are not queues, jobs or sizes', function()
      local queue = threads.Queue(1, 'threads.serialize')
      assert.error_matches(function() threads.Queue(0, 'threads.serialize') end,
         'Queue: got the size 0, wanted 1 or more')
      assert.error_matches(function() threads.Queue(1, 'x') end, 'threads.Queue: got x, wanted')
      assert.error_matches(function() threads.Queue(1e9) end, 'Queue: there is none with the id')
      assert.error_matches(function() threads.Queue() end, 'wanted a size or an id')
      assert.error_matches(function() queue:addjob(3) end, 'argument 1 is of type number')
      assert.error_matches(function() queue:addjob(function() end, coroutine.create(print)) end,
         'argument 1')
      assert.equal(1, queue.isempty)
      queue:free()
      assert.error_matches(function() queue:dojob() end, 'was freed')
      assert.error_matches(function() return queue.size end, 'was freed')
   end)
end)
