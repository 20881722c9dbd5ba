-- Shutdown of the ranks of a job, on one host and on several (spec/support/ranks/endings.lua).
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'

local plain = 'DPT_TIMEOUT=100 DPT_DEVICES=host:2'
local nccl = 'DPT_TIMEOUT=100 DPT_DEVICES=emulated:2 DPT_NCCL=' .. standIn.library
local FILE = '$TMPDIR/saved.t7'

-- Returns the end of a case's title, which says how ranks are distributed.
local function spread(hosts) return hosts and (' on %d hosts'):format(hosts) or '' end

describe('ranks that do all that they should #hostonly', function()
   local function ends(n, way, environment, hosts)
      ranks.ends('the end\n', n, 'endings', way, environment or plain, nil, hosts)
   end

   for _, hosts in ipairs{false, 2} do
      it('exit normally if their last operations follow others on a device' .. spread(hosts),
         function() ends(2, 'queued', nil, hosts or nil) end)

      it("exit normally if a message arrives after its sender's script has ended" .. spread(hosts),
         function() ends(2, 'sent', nil, hosts or nil) end)
   end

   it('exit normally if their last operations follow others on NCCL devices', function()
      ends(2, 'queued', nccl)
   end)

   it('exit normally if the last operation of one rank is in its own group', function()
      ends(3, 'own_group')
   end)

   it('exit normally if the last operation of one rank is in its own group, on 3 hosts',
      function() ends(3, 'own_group', nil, 3) end)

   it('are not ended by a write to a broken pipe', function() ends(2, 'broken_pipe') end)

   it('end a training of unequal parts with a saved network', function()
      ranks.ends('is there\n', 2, 'endings', 'training ' .. FILE,
         'DPT_TIMEOUT=100 DPT_DEVICES=emulated:2',
         ('[ -s %s ] && echo is there'):format(FILE))
   end)
end)

describe('ranks that end differently #hostonly', function()
   local function fails(said, n, way, hosts)
      ranks.fails(said, n, 'endings', way, plain, nil, hosts or nil)
   end

   it('name the one that is absent', function()
      fails('rank 1 has ended its script, and rank 0 waits for it in allReduce of 10 Float', 2,
         'absent')
   end)

   it('name the one that is absent, and its host', function()
      fails('rank 1 on node2 has ended its script, and rank 0 waits for it in allReduce of 10', 2,
         'absent', 2)
   end)

   for way, when in pairs{differ = 'in the last operation', differ_early = 'in one of many',
      differ_save = 'before a file is written'} do
      it('name operations that differ between hosts ' .. when, function()
         if ranks.hostsMissing() then return pending(ranks.hostsMissing()) end
         local output, status = ranks.run(2, 'endings', way .. ' ' .. FILE, plain, nil, 2)
         assert.is_true(status ~= 0 and status ~= 124, output)
         assert.is_truthy(output:find 'have called different operations before operation %d+'
            or output:find 'is not the same on all ranks: .-4 Float elements %(%a+%) on rank %d',
            output)
      end)
   end

   for _, hosts in ipairs{false, 2} do
      it('report a message that no rank receives' .. spread(hosts), function()
         fails('rank 1[^,]* has ended its script without the receive of what rank 0 has sent', 2,
            'left_send', hosts)
      end)

      it('report an operation that the others have not called' .. spread(hosts), function()
         fails('rank 1[^,]* has ended its script without broadcast of 4 Float elements, root 0, '
            .. 'which rank 0 has called %(operation 1%)', 2, 'left_broadcast', hosts)
      end)

      it('name a circle of two that send first' .. spread(hosts), function()
         fails('rank %d waits for rank %d in send of 4000000 Float elements to rank %d, and '
            .. 'rank %d for rank %d in send of 4000000 Float elements to rank %d[^\n]*'
            .. 'distributed%.exchange', 2, 'circle', hosts)
      end)
   end

   it('report the part of an exchange that no rank receives', function()
      fails('rank 1 has ended its script without the receive of what rank 0 has sent', 2,
         'left_exchange')
   end)

   it('name a circle of three that send first', function()
      local links = {}
      for i = 0, 2 do
         links[i + 1] = ('rank %d for rank %d in send of 4000000 Float elements to rank %d')
            :format(i, (i + 1) % 3, (i + 1) % 3)
      end
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(3, 'endings', 'circle', plain)
      assert.is_true(status ~= 0 and status ~= 124, output)
      local found = false
      for i = 1, 3 do
         local first = links[i]:gsub(' for', ' waits for')
         found = found or output:find(('%s, %s, and %s'):format(first, links[i % 3 + 1],
            links[(i + 1) % 3 + 1]), 1, true)
      end
      assert.is_truthy(found, output)
   end)

   it('name tags that differ', function()
      fails('waits for rank %d in %a+ of 4000000 Float elements %a+ rank %d, and rank %d for rank '
         .. '%d in %a+ of 4000000 Float elements %a+ rank %d', 2, 'tag')
   end)

   for way, said in pairs{
      exchange_count = 'receive of 6 Float elements from rank 0, which calls send of 5 Float',
      exchange_type = 'receive of 5 Long elements from rank 0, which calls send of 5 Float',
      exchange_of_devices = 'receive of 6 Float elements from rank 0, which calls send of 5 Float',
   } do
      it('name parts of an exchange that do not fit: ' .. way, function()
         fails('rank 1 calls ' .. said .. ' elements to rank 1', 2, way)
      end)
   end

   it('report that one rank computes while the others wait for it', function()
      fails('has taken longer than 1 s .*rank 0 %(process %d+%): computes, after barrier', 2,
         'computes')
   end)

   it('report the operations of the others', function()
      fails('rank 1 %(process %d+%): is in send of 4000000 Float elements to rank 0,? for %d%.%d s',
         3, 'elsewhere')
   end)
end)

describe('ranks that begin differently #hostonly', function()
   local program = 'exec scripts/dpt spec/support/ranks/endings.lua queued'

   for setting, said in pairs{
      ['TIMEOUT=$((20 + 10 * $OMPI_COMM_WORLD_RANK))'] = 'distributed: DPT_TIMEOUT is 20 s on rank '
         .. '0 and 30 s on rank 1: all ranks need the same',
      ['DETERMINISTIC=$((1 - $OMPI_COMM_WORLD_RANK))'] = 'distributed: deterministic mode '
         .. '%(DPT_DETERMINISTIC%) is on on rank 0 and off on rank 1: all ranks need the same',
   } do
      it('report a difference in the setting: ' .. setting:match '%a+', function()
         ranks.shellFails(said, 2, ('DPT_%s %s'):format(setting, program), 'DPT_DEVICES=host:2')
      end)
   end

   it('report it for lists of ranks', function()
      ranks.shellFails('deterministic mode %(DPT_DETERMINISTIC%) is off on ranks 0, 2 and on on '
         .. 'rank 1: all ranks need the same', 3, 'DPT_DETERMINISTIC=$((OMPI_COMM_WORLD_RANK % 2)) '
         .. program, 'DPT_DEVICES=host:2')
   end)

   it('may have other devices', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.shell(2, 'DPT_DEVICES=host:$((1 + $OMPI_COMM_WORLD_RANK)) '
         .. program, 'DPT_TIMEOUT=100')
      assert.equal(0, status, output)
      assert.matches('the end', output, 1, true)
   end)
end)
