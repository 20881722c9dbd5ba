-- Many groups of ranks, and processes that ranks start (spec/support/ranks/groups.lua).
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'

describe('groups of ranks #hostonly', function()
   local nccl = 'emulated:2 DPT_NCCL=' .. standIn.library

   for devices, how in pairs{['host:2'] = '', [nccl] = ' whose devices NCCL joins'} do
      local holds = ranks.checks('groups',
         os.getenv 'DPT_RANKS' or devices == nccl and '2' or '1 3', devices .. ' DPT_TIMEOUT=100')

      describe('of ranks' .. how, function()
         it('can be made and freed a thousand times', function() holds 'freed' end)
         it('can be made and dropped a thousand times', function() holds 'dropped' end)
         it('are an error after they were freed', function() holds 'after' end)
         it('complete the operations that were queued before they were freed',
            function() holds 'queued' end)
         it('work in a job with a hundred groups', function() holds 'alive' end)
         it('run different operations independently', function() holds 'apart' end)
         it('allow a rank to start processes that are not ranks', function() holds 'child' end)
         it('let the job end', function() holds 'the end' end)
      end)
   end

   -- A sanitizer quarantines freed memory.
   it('do not leak memory #noasan', function()
      ranks.ends('memory holds\n', 2, 'groups', 'memory', 'DPT_DEVICES=host:2')
   end)

   it('have the ranks that a shell of the launcher starts', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.shell(2, 'scripts/dpt spec/support/ranks/child.lua && true',
         'DPT_DEVICES=host:1')
      assert.equal(0, status, output)
      for rank = 0, 1 do
         assert.matches(('child: rank %d of 2\n'):format(rank), output, 1, true)
      end
   end)
end)
