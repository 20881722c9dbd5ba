-- dpt.distributed.sampler: assigns rows to ranks.
local torch = require('dpt').torch
local run = require 'spec.support.run'
local distributed = require 'dpt.distributed'
local Sampler = require 'dpt.distributed.sampler'

describe('dpt.distributed.sampler', function()
   -- Returns the batches of an epoch over all ranks as a list of lists.
   local function epoch(n, options, size, from)
      local batches = {}
      for rank = 0, size - 1 do
         local sampler, k = Sampler.new(n, options, rank, size), 0
         if from then sampler:load(from) end
         for indices, before, total in sampler:epoch() do
            k = k + 1
            batches[k] = batches[k] or {}
            assert.equal(#batches[k], before)
            for i = 1, indices:nElement() do table.insert(batches[k], indices[i]) end
            if rank == size - 1 then assert.equal(total, #batches[k]) end
         end
         assert.equal(2, sampler.current - (from and from.current - 1 or 0))
      end
      return batches
   end

   it('has the same batches for any number of ranks, each row once', function()
      for _, options in ipairs{{batch = 10}, {batch = 7, shuffle = false}, {seed = 4, batch = 3}} do
         local one = epoch(23, options, 1)
         local seen = {}
         for _, batch in ipairs(one) do
            for _, i in ipairs(batch) do
               assert.is_nil(seen[i])
               seen[i] = true
            end
         end
         assert.equal(23, #seen)
         for _, size in ipairs{2, 3, 5, 8} do assert.same(one, epoch(23, options, size)) end
      end
   end)

   it('shuffles each epoch differently, for any seed', function()
      for _, seed in ipairs{0, -3, 2 ^ 31, 1700000000123, 2 ^ 53} do
         local a, orders = Sampler.new(50, {seed = seed}, 0, 1), {}
         for _ = 1, 20 do
            orders[table.concat(a:next():totable(), ' ')] = true
            a:next()
         end
         local count = 0
         for _ in pairs(orders) do count = count + 1 end
         assert.equal(20, count)
      end
   end)

   it('rejects a state that it cannot have had', function()
      local sampler = Sampler.new(10, {batch = 4}, 0, 1)
      sampler:next()
      local state = sampler:state()
      for name, values in pairs{position = {-1, 2.5, 0 / 0, 11}, batch = {0, -2, 'x'},
         current = {0, 1.5, {}}, seed = {{}, 0.5}, shuffle = {'no'}, dropLast = {1}} do
         for _, value in pairs(values) do
            local other = sampler:state()
            other[name] = value
            assert.error_matches(function() sampler:load(other) end, 'load got ' .. name .. ' = ')
            assert.same(state, sampler:state())
         end
      end
      sampler:load{n = 10, position = 0, rank = 5, next = 1}
      assert.equal(4, sampler:next():nElement())
   end)

   it('drops an incomplete last batch on all ranks if dropLast is set', function()
      for n, batches in pairs{[0] = 0, [3] = 0, [7] = 1, [14] = 2, [20] = 2} do
         local whole = epoch(n, {batch = 7, seed = 3}, 1)
         for _, size in ipairs{1, 2, 3} do
            local options = {batch = 7, seed = 3, dropLast = true}
            assert.equal(batches, Sampler.new(n, options, size - 1, size):steps())
            assert.same({unpack(whole, 1, batches)}, epoch(n, options, size))
         end
         assert.equal(#whole, Sampler.new(n, {batch = 7}, 0, 1):steps())
      end
   end)

   it("resumes with the script's dropLast, or the state's if the script sets none", function()
      local whole = epoch(11, {batch = 4}, 1)
      local sampler = Sampler.new(11, {batch = 4, dropLast = true}, 0, 1)
      for _ = 1, 2 do sampler:next() end
      local state = torch.deserialize(torch.serialize(sampler:state()))
      assert.equal(8, state.position)
      assert.same({}, epoch(11, {batch = 4}, 2, state))
      assert.same({whole[3]}, epoch(11, {batch = 4, dropLast = false}, 2, state))
      assert.equal(1, #epoch(11, {batch = 3}, 1, state)) -- the last three rows
      state.dropLast = nil -- as written by older versions
      assert.same({whole[3]}, epoch(11, {batch = 4}, 2, state))
   end)

   it('warns once, on rank 0, if the missing batch size makes a batch of all rows', function()
      local text = run.lua [[
         require 'dpt'
         io.stdout:setvbuf 'no'
         local Sampler = require 'dpt.distributed.sampler'
         local state = Sampler.new(50, {batch = 10}, 0, 1):state()
         Sampler.new(50, {batch = 50}, 0, 1):next()
         Sampler.new(50, nil, 0, 1):load(state):next()
         Sampler.new(50, nil, 1, 2):next()
         Sampler.new(1, nil, 0, 1):next()
         print 'quiet'
         for _ = 1, 2 do Sampler.new(50, {seed = 1}, 0, 1):next() end]]
      assert.equal('quiet\ndpt: distributed.sampler: option batch is missing, so each batch has all'
         .. ' 50 rows: set batch = N\n', text)
   end)

   it('shuffles by seed and epoch', function()
      local a = Sampler.new(50, {}, 0, 1)
      local first = a:next():totable()
      assert.is_nil(a:next())
      assert.not_same(first, a:next():totable())
      assert.same(first, Sampler.new(50, nil, 0, 1):next():totable())
      assert.not_same(first, Sampler.new(50, {seed = 1}, 0, 1):next():totable())
      local plain = Sampler.new(5, {shuffle = false}, 0, 1)
      assert.same({1, 2, 3, 4, 5}, plain:next():totable())
      assert.is_nil(Sampler.new(0, {}, 0, 1):next())
   end)

   it('resumes in the middle of an epoch with another number of ranks', function()
      local whole = epoch(23, {batch = 4}, 1)
      local sampler = Sampler.new(23, {batch = 4}, 1, 2)
      for _ = 1, 2 do sampler:next() end
      local state = torch.deserialize(torch.serialize(sampler:state()))
      for _, size in ipairs{1, 2, 3} do
         assert.same({unpack(whole, 3)}, epoch(23, {batch = 4}, size, state))
      end
   end)

   it('restores the position from a state, and options that the script did not set', function()
      local first = Sampler.new(12, {batch = 4, seed = 3, shuffle = false}, 0, 1)
      for _ = 1, 4 do first:next() end -- one epoch and its end
      first:next()
      local state = torch.deserialize(torch.serialize(first:state()))
      local function loaded(options) return Sampler.new(12, options, 0, 1):load(state):state() end
      local function with(batch, seed, shuffle)
         return {n = 12, batch = batch, seed = seed, shuffle = shuffle, dropLast = false,
            current = 2, position = 4}
      end
      assert.same(with(4, 3, false), loaded(nil))
      assert.same(with(5, 3, false), loaded{batch = 5})
      assert.same(with(4, 9, false), loaded{seed = 9})
      assert.same(with(4, 3, true), loaded{shuffle = true})
      assert.same(with(12, 0, true), loaded{batch = 12, seed = 0, shuffle = true})
      -- again: options taken from the first state do not count as set by the script
      local sampler = Sampler.new(12, {seed = 9}, 0, 1):load(state)
      state.batch, state.seed, state.position = 6, 7, 3
      assert.same({6, 9, 3}, {sampler:load(state).batch, sampler.seed, sampler.position})
   end)

   it('continues after the returned rows with batches of another size', function()
      local first = Sampler.new(10, {batch = 4, seed = 2}, 0, 1)
      local whole = Sampler.new(10, {seed = 2}, 0, 1):next():totable()
      first:next()
      for _, batch in ipairs{1, 3, 6, 7} do
         local rows, sizes = {}, {}
         local sampler = Sampler.new(10, {batch = batch}, 0, 1):load(first:state())
         for indices in sampler:epoch() do
            sizes[#sizes + 1] = indices:nElement()
            for _, row in ipairs(indices:totable()) do rows[#rows + 1] = row end
         end
         assert.same({unpack(whole, 5)}, rows)
         assert.equal(math.min(batch, 6), sizes[1])
         assert.same({2, 0}, {sampler.current, sampler.position})
      end
   end)

   it('is made for this rank, and reports wrong arguments', function()
      assert.equal(9, distributed.sampler(9):next():nElement())
      local function raises(message, n, options)
         assert.error_matches(function() distributed.sampler(n, options) end, message, 1, true)
      end
      raises('wants the number of rows as argument 1, got 1.5', 1.5)
      raises('wants a table of options as argument 2, got number', 3, 3)
      raises('there is no option rows, wanted batch, dropLast, group, seed or shuffle', 3,
         {rows = 1})
      raises('option batch wants a number of rows, 1 at least, got 0', 3, {batch = 0})
      raises('option shuffle wants true or false, got 1', 3, {shuffle = 1})
      assert.error_matches(function() distributed.sampler(3):load{n = 4, position = 0} end,
         'load got the state of a sampler of 4 rows, this one has 3', 1, true)
      assert.error_matches(function() distributed.sampler(3):load(2) end,
         'load wants what state() returned, got number', 1, true)
   end)
end)
