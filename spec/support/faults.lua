--- Lets one of several ranks go wrong, and looks at how all of them end.
local ranks = require 'spec.support.ranks'

local faults = {}

-- What the message says.
local says = {
   -- mpirun may be first: `rank 1 with PID ... exited on signal 9`
   kill = function(victim) return ('rank %d [w(][ith process PID]+%%d+'):format(victim) end,
   stop = function(victim)
      return ('has taken longer than 2 s.*rank %d %%(process %%d+%%): is stopped'):format(victim)
   end,
   error = function(victim) return ('rank %d: .*a mistake of the script'):format(victim) end,
   exit = function(victim)
      return ('rank %d has ended its script, and rank %%d waits'):format(victim)
   end,
   status = function(victim) return ('rank %d has ended with status 7'):format(victim) end,
   count = function(victim) return ('77 Float elements %%(max%%) on rank %d'):format(victim) end,
   type = function(victim) return ('5 Long elements %%(sum%%) on rank %d'):format(victim) end,
   order = function(victim)
      return ('broadcast of 6 Double elements, root %%d on rank %d'):format(victim)
   end,
}
faults.names = {'kill', 'stop', 'error', 'exit', 'status', 'count', 'type', 'order'}

--- Three ranks, of which `victim` goes wrong before operation `place` of those that the seed draws.
function faults.inject(fault, victim, place, seed)
   local words = ('%s %d %d %d'):format(fault, victim, place, seed)
   local output, status = ranks.run(3, 'faults', words, 'DPT_TIMEOUT=100 DPT_DEVICES=host:2')
   if status == 0 or status == 124 or output:find('the end', 1, true)
      or not output:find(says[fault](victim)) then
      error(('%s: status %d\n%s'):format(words, status, output))
   end
end

return faults
