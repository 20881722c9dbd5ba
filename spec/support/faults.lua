--- Makes one of several ranks fail, and checks how all of them end.
local ranks = require 'spec.support.ranks'

local faults = {}

-- Messages about rank %d: lists of patterns, one of which must match, by place (`usual`: others). A
-- rank that ends before it is connected has no record. mpirun reports such a rank in one of two
-- ways or, if the rank ended before all others began to connect, not at all.
local function unconnected(status)
   return {'Process name: %%[%%[%%d+,%%d+%%],%d%%]%%s+Exit code: +' .. status,
      'process rank %d with PID %%d+ on%%s+node %%S+ exiting improperly',
      'connecting the 3 ranks has taken longer than 2 s.*rank %d: does not use'}
end
local says = {
   -- mpirun may report it first: `rank 1 with PID ... exited on signal 9`
   kill = {usual = {'rank %d [w(][ith process PID]+%%d+'}},
   stop = {usual = {'has taken longer than 2 s.*rank %d %%(process %%d+%%): is stopped'},
      init = {'connecting the 3 ranks has taken longer than 2 s.*rank %d: does not use'},
      ['end'] = {'has ended its script and waits.*rank %d %%(process %%d+%%): is stopped'}},
   error = {usual = {'rank %d: .*a mistake of the script'}},
   exit = {usual = {'rank %d has ended its script, and rank %%d waits'}, init = unconnected(0)},
   status = {usual = {'rank %d has ended with status 7'}, init = unconnected(7)},
   count = {usual = {'77 Float elements %%(max%%), too long on rank %d'},
      ['end'] = {'ended its script, and rank %d waits for it in allReduce of 77 Float'}},
   type = {usual = {'5 Long elements %%(sum%%) on rank %d'},
      ['end'] = {'ended its script, and rank %d waits for it in allReduce of 5 Long'}},
   order = {usual = {'broadcast of 6 Double elements, root %%d on rank %d'},
      ['end'] = {'ended its script, and rank %d waits for it in broadcast of 6 Double'}},
}
faults.names = {'kill', 'stop', 'error', 'exit', 'status', 'count', 'type', 'order'}
faults.places = {'init', 'between', 'save', 'end'} -- and numbers of operations

-- Before ranks are connected only the launcher can detect faults; an exit at the end is no fault.
local function meaningless(fault, place)
   return place == 'init' and (fault == 'count' or fault == 'type' or fault == 'order')
      or place == 'end' and fault == 'exit'
end

--- Runs three ranks, of which `victim` fails at a place among operations drawn from the seed.
-- @param environment or nil: two host devices for each rank
-- @return false if there is no such fault at that place, and nothing was run
function faults.inject(fault, victim, place, seed, environment)
   if meaningless(fault, place) then return false end
   local words = ('%s %d %s %d'):format(fault, victim, place, seed)
   local output, status = ranks.run(3, 'faults', words,
      'DPT_TIMEOUT=100 ' .. (environment or 'DPT_DEVICES=host:2'))
   local names = false
   for _, said in ipairs(says[fault][place] or says[fault].usual) do
      names = names or output:find(said:format(victim))
   end
   if status == 0 or status == 124 or not names then
      error(('%s: status %d\n%s'):format(words, status, output))
   end
   return true
end

return faults
