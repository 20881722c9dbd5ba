-- `dpt flight`: analyzes records of ranks.
local flight = require 'dpt.launcher.flight'
local ranks = require 'spec.support.ranks'

describe('dpt flight', function()
   local function rank(number, ...)
      local entries = {}
      for i, text in ipairs{...} do
         entries[#entries + 1] = {group = 'g', number = i, text = text}
      end
      return {rank = number, entries = entries}
   end

   it('reports the first operation that differs', function()
      assert.is_nil(flight.difference{rank(0, 'a', 'b'), rank(1, 'a', 'b')})
      assert.same({number = 2, group = 'g', [0] = 'b', [1] = 'c'},
         flight.difference{rank(0, 'a', 'b', 'd'), rank(1, 'a', 'c', 'e')})
   end)

   it('reports the first operation that a rank has not reached', function()
      assert.same({number = 3, group = 'g', [0] = 'c', [1] = false, [2] = 'c'},
         flight.difference{rank(0, 'a', 'b', 'c'), rank(1, 'a', 'b'), rank(2, 'a', 'b', 'c')})
   end)

   it('ignores operations that one rank no longer records, sends and receives', function()
      local late = rank(1, 'a', 'b')
      table.remove(late.entries, 1)
      assert.is_nil(flight.difference{rank(0, 'x', 'b'), late})
      local one, two = rank(0, 'a'), rank(1, 'a')
      table.insert(one.entries, {group = '0', number = 1, text = 'send', paired = true})
      table.insert(two.entries, {group = '0', number = 1, text = 'receive', paired = true})
      assert.is_nil(flight.difference{one, two})
   end)

   it('reads the records of ranks of which one was killed', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output = ranks.run(2, 'faults', 'kill 1 3 1', 'DPT_DEVICES=host:2',
         'scripts/dpt flight; echo "exit $?"')
      assert.matches('rank 0 of 2 %(process %d+ on %S+%) has failed: rank 1', output)
      assert.matches('rank 1 of 2 %(process %d+ on %S+%) was running\n   last: operation', output)
      assert.matches('they first differ at operation %d+:\n   rank 0: %a+.-\n   rank 1: not there',
         output)
      assert.matches('exit 1', output)
      local program, year, month, day, hour, minute = output:match('\n(%S+) on %S+, last alive '
         .. '(%d+)-(%d+)-(%d+) (%d+):(%d+):%d+ %(%d+ %a+ ago%), records '
         .. '%S+/dpt%-flight%-%d+%-%S+%-%*\n')
      assert.equal('spec/support/ranks/faults.lua', program, output)
      local seconds = os.time() - os.time{year = year, month = month, day = day, hour = hour,
         min = minute}
      assert.is_true(seconds >= 0 and seconds < 900, output) -- only a hang takes 900 s
   end)

   it('reports once why the ranks of a host have ended', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output = ranks.run(3, 'faults', 'error 1 3 1', 'DPT_DEVICES=host:2')
      local _, count = output:gsub('a mistake of the script', '')
      assert.equal(1, count, output)
      for _, other in ipairs{0, 2} do
         assert.matches(('dpt: rank %d ends with rank 1, which says why\n'):format(other), output)
      end
   end)

   it('reports unreadable files', function()
      local pipe = io.popen 'scripts/dpt flight README.md 2>&1; echo $?'
      assert.equal('dpt flight: README.md is no record of a rank\n2\n', pipe:read '*a')
      pipe:close()
   end)
end)
