--- spec for dpt.threads, the interface of torch/threads: jobs, end callbacks, modes, order, errors.
local threads = require 'threads'
local torch = require 'torch'

describe('A pool of threads.Threads', function()
   local pool

   before_each(function() pool = threads.Threads(2, function(i) number = i end) end)
   after_each(function() pool:terminate() end)

   it("runs callbacks in workers and end callbacks here, with the callbacks' results", function()
      local sum, nils, ids = 0, 0, {}
      for i = 1, 50 do
         pool:addjob(function(a, b)
            return a + 1, nil, __threadid, number, b
         end, function(...)
            sum = sum + (...)
            nils = nils + (select(2, ...) == nil and select(5, ...) == 'x' and 1 or 0)
            assert.equals(select(3, ...), (select(4, ...)))
            ids[select(3, ...)] = true
         end, i, 'x')
      end
      pool:synchronize()
      assert.equals(51 * 25 + 50, sum)
      assert.equals(50, nils)
      assert.is_true(ids[1] or ids[2])
      assert.is_nil(__threadid)
      assert.is_nil(number)
   end)

   it("is made by threads(n, ...), which returns the last init function's results", function()
      local other, initial = threads(3, function() return 'not this' end, function(i)
         return i, 2 * i
      end)
      assert.same({{1, 2}, {2, 4}, {3, 6}}, initial)
      assert.equals(3, other.N)
      other:terminate()
   end)

   it('reports whether it accepts jobs and has some', function()
      local mutex = threads.Mutex()
      assert.is_false(pool:hasjob())
      assert.is_true(pool:acceptsjob())
      mutex:lock()
      local added, done, begun = 0, 0, threads.AtomicCounter()
      while pool:acceptsjob() do
         pool:addjob(function()
            begun:inc()
            mutex:lock()
            mutex:unlock()
         end, function() done = done + 1 end)
         added = added + 1
         while added <= 2 and begun:get() < added do end -- workers start the first two
      end
      assert.equals(4, added) -- two run, two wait
      assert.is_true(pool:hasjob())
      mutex:unlock()
      pool:dojob()
      assert.equals(1, done)
      pool:synchronize()
      assert.equals(4, done)
      assert.is_false(pool:hasjob())
   end)

   it('makes space in a full queue by itself', function()
      local done = 0
      for _ = 1, 30 do pool:addjob(function() end, function() done = done + 1 end) end
      pool:synchronize()
      assert.equals(30, done)
   end)

   it('sends jobs to one worker in specific mode', function()
      assert.is_false(pool:specific())
      pool:specific(true)
      assert.is_true(pool:specific())
      local seen = {}
      for _ = 1, 5 do
         for i = 1, 2 do
            pool:addjob(i, function() return __threadid end, function(id)
               seen[#seen + 1] = id == i
            end)
         end
      end
      assert.is_true(pool:acceptsjob(1) ~= nil)
      pool:synchronize()
      assert.equals(10, #seen)
      for _, good in ipairs(seen) do assert.is_true(good) end
      assert.error_matches(function() pool:addjob(3, function() end) end,
         'addjob: got 3 as thread, wanted 1 to 2')
      assert.error_matches(function() pool:addjob(function() end) end, 'got function: 0x')
      assert.error_matches(function() pool:acceptsjob() end, 'acceptsjob: got nil as thread')
      pool:specific(false)
      pool:addjob(function() end)
      pool:synchronize()
   end)

   it('leaves devices\' generators alone when a worker seeds its own', function()
      local seeded = threads.Threads(2, function(i) torch.manualSeed(i) end)
      torch.manualSeed(7)
      local wanted = torch.CudaTensor(3):uniform():totable()
      torch.manualSeed(7)
      local drawn = {}
      for i = 1, 2 do
         seeded:addjob(function()
            torch.manualSeed(20 + i)
            return torch.uniform()
         end, function(v) drawn[i] = v end)
      end
      seeded:synchronize()
      seeded:terminate()
      assert.same(wanted, torch.CudaTensor(3):uniform():totable())
      for i = 1, 2 do
         torch.manualSeed(20 + i)
         assert.equal(torch.uniform(), drawn[i])
      end
   end)

   it('keeps globals of a worker between jobs', function()
      pool:specific(true)
      pool:addjob(1, function() counted = (counted or 0) + 1 end)
      pool:addjob(1, function() counted = (counted or 0) + 1 end)
      local got
      pool:addjob(1, function() return counted end, function(v) got = v end)
      pool:synchronize()
      assert.equals(2, got)
   end)

   it('rejects values that are not functions, and every call after terminate', function()
      assert.error_matches(function() pool:addjob(3) end, 'addjob: argument 1 is of type number')
      assert.error_matches(function() pool:addjob(print, 3) end, 'argument 2 is of type number')
      assert.error_matches(function() threads(0) end, 'got 0, wanted the number of threads')
      assert.error_matches(function() threads(1, 2) end, 'argument 2 is of type number')
      assert.error_matches(function() pool:dojob() end, 'no job to wait for')
      assert.error_matches(function() pool:specific(1) end, 'got 1, wanted true or false')
      assert.is_true(pool:isrunning())
      pool:terminate()
      pool:terminate()
      pool:synchronize()
      assert.is_false(pool:isrunning())
      assert.error_matches(function() pool:addjob(print) end, 'the pool was terminated')
      assert.error_matches(function() pool:hasjob() end, 'the pool was terminated')
   end)

   it('copies tensors, or shares them, as threads.serialization says', function()
      assert.equals('threads.serialize', threads.serialization())
      for name, sum in pairs{['threads.serialize'] = 10, ['threads.sharedserialize'] = 30} do
         threads.serialization(name)
         assert.equals(name, threads.Threads.serialization())
         local other = threads(1)
         local t, result = torch.FloatTensor(10):fill(1)
         local view = t:narrow(1, 1, 5)
         other:addjob(function(a, b)
            a:fill(3)
            return b:sum(), a
         end, function(s, a)
            assert.equals(15, s) -- views stay views of one storage
            result = a
         end, t, view)
         other:synchronize()
         assert.equals(sum, t:sum())
         assert.equals(30, result:sum())
         assert.equals(name == 'threads.sharedserialize', result:storage() == t:storage())
         other:terminate()
      end
      threads.serialization 'threads.serialize'
      assert.error_matches(function() threads.serialization 'mine' end,
         "got mine, wanted 'threads.serialize'")
   end)

   it('allows a worker to have its own pool', function()
      local got
      pool:addjob(function()
         local inner = require('threads')(2)
         local sum = 0
         for i = 1, 10 do
            inner:addjob(function() return i end, function(v) sum = sum + v end)
         end
         inner:synchronize()
         return sum
      end, function(v) got = v end)
      pool:synchronize()
      assert.equals(55, got)
   end)

   it('accepts the yield of a coroutine as end callback', function()
      local single = threads.Threads(1)
      local function results()
         for i = 1, 2 do single:addjob(function() return i end, coroutine.yield) end
         single:synchronize()
      end
      local list = {}
      for r in coroutine.wrap(results) do list[#list + 1] = r end
      assert.same({1, 2}, list)
      for r in coroutine.wrap(results) do -- abandoned inside the last end callback
         if r == 2 then break end
      end
      single:synchronize()
      assert.is_false(single:hasjob())
      single:terminate()
   end)

   it('loads batches asynchronously as scripts of Torch7 do', function()
      local todo, result = 20, nil
      local jobs, sum = 0, 0
      local function get()
         while jobs < todo and pool:acceptsjob() do
            jobs = jobs + 1
            pool:addjob(function(i)
               return torch.FloatTensor(4, 3):fill(i)
            end, function(batch) result = batch end, jobs)
         end
         if pool:hasjob() then
            pool:dojob()
            return result
         end
      end
      for batch in get do sum = sum + batch:mean() end
      assert.equals(210, sum)
   end)
end)
