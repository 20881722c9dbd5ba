-- Ranks on two hosts: network namespaces of this machine with a link between them, TCP only.
local ranks = require 'spec.support.ranks'

describe('ranks on two hosts', function()
   local function missing()
      if ranks.missing() then return ranks.missing() end
      local status = os.execute 'spec/support/hosts.sh check'
      if status ~= 0 and status ~= true then return 'no network namespaces can be made here' end
   end

   local function run(program, after)
      local pipe = io.popen(([[
         export TMPDIR=$(mktemp -d) DPT_DEVICES=host:2
         timeout -k 5 200 spec/support/hosts.sh run $TMPDIR scripts/dpt spec/support/ranks/%s \
            >>$TMPDIR/output 2>&1 </dev/null & runs=$!
         %s
         cat $TMPDIR/output
         rm -rf $TMPDIR]]):format(program, after))
      local text = pipe:read '*a'
      pipe:close()
      return text
   end

   it('compute the results of one process', function()
      if missing() then return pending(missing()) end
      assert.matches('compared %d+ results.*status 0\n$',
         run('collectives.lua 30000', 'wait $runs; echo "status $?" >>$TMPDIR/output'))
   end)

   -- mpirun takes minutes to notice that a host is unreachable: it is ended here. A rank may know
   -- that the other has begun the operation; with many elements it nearly always does. The ranks'
   -- records contain the age of the operation at that time. A rank that gives up ends half a second
   -- later, whatever MPI does.
   for _, elements in ipairs{1000000, 20000000} do
      it(('both end with a message if the wire is cut in an operation of %d elements'
         ):format(elements), function()
         if missing() then return pending(missing()) end
         local output = run('cut.lua ' .. elements, [[
            until [ -e $TMPDIR/0 ] && [ -e $TMPDIR/1 ]; do sleep 0.1; done
            read -r one <$TMPDIR/0; read -r two <$TMPDIR/1
            sleep 0.5
            spec/support/hosts.sh cut $TMPDIR
            from=$(date +%s%N)
            for i in $(seq 600); do
               kill -0 $one 2>/dev/null || kill -0 $two 2>/dev/null || break
               sleep 0.1
            done
            echo "ended after $((($(date +%s%N) - from) / 1000000)) ms" >>$TMPDIR/output
            kill -0 $one 2>/dev/null && echo 'rank 0 is still there' >>$TMPDIR/output
            kill -0 $two 2>/dev/null && echo 'rank 1 is still there' >>$TMPDIR/output
            kill $runs; wait $runs
            scripts/dpt flight >>$TMPDIR/output 2>&1]])
         assert.not_matches('still there', output)
         print('the ranks ' .. output:match 'ended after %d+ ms' .. ' of the cut')
         for k = 0, 1 do
            local come, silent = output:match(('rank %d of 2 [^\n]-has failed: rank %d: allReduce '
               .. 'of %d Float elements %%(mean%%), weights %%(operation %%d+%%) has taken longer '
               .. 'than 4 s %%(DPT_TIMEOUT%%); come: (%%S+); rank (%%d) on %%S+: last heard of %%d'
               ):format(k, k, elements))
            assert.is_true(come == '0-1' or come == tostring(k), output)
            assert.equal(1 - k, tonumber(silent))
            local age = tonumber(output:match(
               ('rank %d of 2 .-not done after ([%%d.]+) s'):format(k)))
            print(('rank %d gave up after %.3f s of 4'):format(k, age))
            assert.is_true(age >= 4 and age < 4.5, output)
         end
      end)
   end

   -- The other host is notified of a fault of rank 1 within a second.
   for fault, said in pairs{
      count = 'is not the same on all ranks: .-77 Float elements %(max%), too long on rank 1',
      type = 'is not the same on all ranks: .-5 Long elements %(sum%) on rank 1',
      stop = 'rank 0: .- has taken longer than 2 s %(DPT_TIMEOUT%); come: 0; rank 1 on %S+: last',
      exit = 'rank 1 on %S+ has ended its script, and rank 0 waits for it in',
      error = 'rank 1: .-a mistake of the script',
   } do
      it('end if one of them fails: ' .. fault, function()
         if missing() then return pending(missing()) end
         local output = run(('faults.lua %s 1 5 5'):format(fault),
            'wait $runs; echo "status $?" >>$TMPDIR/output')
         assert.matches(said, output)
         local status = tonumber(output:match 'status (%d+)\n$')
         assert.is_true(status ~= 0 and status ~= 124, output)
      end)
   end
end)
