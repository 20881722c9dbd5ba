-- A fault on one rank ends all ranks, with a message that names it.
local faults = require 'spec.support.faults'
local ranks = require 'spec.support.ranks'

describe('a faulty rank in a job #hostonly', function()
   it('the job ends normally without a fault', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'faults', 'none 0 5 1',
         'DPT_TIMEOUT=100 DPT_DEVICES=host:2')
      assert.equal(0, status, output)
      assert.matches('the end', output, 1, true)
   end)

   for i, fault in ipairs(faults.names) do
      it('end with its name: ' .. fault, function()
         if ranks.missing() then return pending(ranks.missing()) end
         faults.inject(fault, i % 3, 5, i)
      end)
   end

   for _, one in ipairs{{'stop', 'init'}, {'stop', 'end'}, {'error', 'save'}} do
      it(('end with its name: %s, %s'):format(unpack(one)), function()
         if ranks.missing() then return pending(ranks.missing()) end
         faults.inject(one[1], 1, one[2], 7)
      end)
   end

   -- Ranks also wait for each other at the end of the job, which must not match a script's barrier.
   it('end with its name: exit, before a barrier of the others', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'early_end', nil, 'DPT_TIMEOUT=100')
      assert.not_equal(0, status)
      assert.not_equal(124, status)
      assert.matches('rank 2 has ended its script, and rank [01] waits for it in barrier', output)
   end)

   it('end if two groups are used in different orders', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'orders', nil, 'DPT_TIMEOUT=100')
      assert.not_equal(0, status)
      assert.not_equal(124, status)
      assert.matches('rank 0 waits for rank 1 in allReduce of 5 Float elements %(sum%), and rank 1 '
         .. 'for rank 0 in barrier of another group', output:gsub('rank 1 waits for rank 0 in '
         .. 'barrier, and rank 0 for rank 1 in (allReduce of 5 Float elements %(sum%))',
         'rank 0 waits for rank 1 in %1, and rank 1 for rank 0 in barrier'))
   end)

   it('end if lists have the same elements in tensors of other sizes', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'lists', nil, 'DPT_TIMEOUT=100')
      assert.not_equal(0, status)
      assert.not_equal(124, status)
      assert.equal(3, select(2, output:gsub('alike', '')), output)
      assert.matches('is not the same on all ranks: allReduce of 13 Float elements in tensors of'
         .. ' sizes %x+ %(sum%) on rank %d, allReduce of 13 Float elements in tensors of sizes',
         output)
      assert.matches('(sum) on rank 1', output, 1, true) -- either rank may be named first
   end)

   it('reject a time that is none', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(1, 'faults', 'none 0 1 1', 'DPT_TIMEOUT=soon')
      assert.not_equal(0, status)
      assert.matches("DPT_TIMEOUT: got 'soon', wanted seconds as in 600", output, 1, true)
   end)

   it('a rank may compute longer than the deadline of an operation', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'idle', '4', 'DPT_TIMEOUT=100')
      assert.equal(0, status, output)
      assert.matches('the end', output, 1, true)
   end)
end)
