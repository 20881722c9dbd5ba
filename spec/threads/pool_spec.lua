--- spec for dpt.threads.pool: jobs, dpt's functions sent by name, answers, errors.
local Pool = require 'dpt.threads.pool'
local torch = require 'torch'

describe('dpt.threads.pool', function()
   local pool

   setup(function() pool = Pool.new(3) end)
   teardown(function() pool:close() end)

   it('calls a function of dpt, which is sent by name', function()
      local values, count = pool:receive(pool:send(2, require('dpt.parallel.params').new))
      assert.equals(1, count)
      assert.is_table(values[1])
   end)

   it('sends to all workers and receives the answers in any order', function()
      local jobs = {}
      for i = 1, 3 do
         for k = 1, 3 do
            jobs[{i, k}] = pool:send(i, function(a) return a * 10 + __threadid end, k)
         end
      end
      for place, job in pairs(jobs) do
         assert.equals(place[2] * 10 + place[1], pool:receive(job)[1])
      end
   end)

   it('answers a job with its own result, also after unanswered ones', function()
      local freed = setmetatable({}, {__mode = 'k'})
      local kept = pool:send(1, function() return 'kept' end)
      freed[pool:send(1, function() return 'dropped' end)] = true
      assert.equals('fresh', pool:receive(pool:send(1, function() return 'fresh' end))[1])
      collectgarbage()
      assert.is_nil(next(freed))
      assert.equals('kept', pool:receive(kept)[1])
   end)

   it('raises instead of waiting for an answer that was received or cannot arrive', function()
      local job = pool:send(1, function() return 7 end)
      assert.equals(7, pool:receive(job)[1])
      assert.error_matches(function() pool:receive(job) end, 'there is no job to wait for')
      local other = Pool.new(1)
      job = other:send(1, function() return 7 end)
      other:close()
      assert.same({nil, 'worker 1 has ended: the pool was closed'}, {other:receive(job)})
   end)

   it('returns nil and the message with the traceback of the worker', function()
      local bad = pool:send(1, function() error 'hoppla' end)
      local good = pool:send(2, function() return 7 end)
      local values, message = pool:receive(bad)
      assert.is_nil(values)
      assert.matches('pool_spec.lua:%d+: hoppla', message)
      assert.matches('stack traceback', message)
      assert.equals(7, pool:receive(good)[1])
   end)

   it('shares tensors with its workers', function()
      local t = torch.FloatTensor(10):zero()
      local values = pool:receive(pool:send(1, function(x)
         x:fill(3)
         return x, x:storage()
      end, t))
      assert.equals(30, t:sum())
      assert.is_true(values[2] == t:storage())
      assert.equals(values[1]:storage(), t:storage())
   end)

   it('runs the init functions in turn, with the worker\'s number', function()
      local other = Pool.new(2, {
         function(i) first = i end,
         function(i) second = first + i end,
      })
      for i = 1, 2 do
         local job = other:send(i, function() return second end)
         assert.equals(2 * i, other:receive(job)[1])
      end
      other:close()
   end)

   it('runs the LuaJIT of the process, since libdpt contains none', function()
      local path
      for line in io.lines '/proc/self/maps' do path = path or line:match '(/%S*libdpt%.so)' end
      local pipe = io.popen(("readelf -d '%s'"):format(path))
      local text = pipe:read '*a'
      pipe:close()
      assert.matches('libdnnl', text)
      assert.is_nil(text:find('openblas', 1, true))
      assert.is_nil(text:find('luajit', 1, true))
      local job = pool:send(1, function() return jit.version, require('ffi').abi 'gc64' end)
      assert.same({jit.version, require('ffi').abi 'gc64'}, (pool:receive(job)))
   end)

   it('raises the error of a failed init, of every worker', function()
      local ok, message = pcall(Pool.new, 2, {function(i) error('no ' .. i) end})
      assert.is_false(ok)
      assert.matches('%[thread 1 init%].*no 1', message)
      assert.matches('%[thread 2 init%].*no 2', message)
   end)
end)
