--- Runs a program as several ranks on this machine, with mpirun.
--
-- Invariant: files of a run (records of ranks) are removed with its folder. A run that hangs is
-- ended after minutes, which only a hang takes. Open MPI 4.1.4's mpirun sometimes deadlocks
-- (PMIx_server_finalize) if ranks ended while they were being connected: it is killed if no rank
-- has been alive for half a minute, and the run's status reports that.
local busted, luassert = require 'busted', require 'luassert'

local ranks = {}

local library = os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'

local function output(command)
   local pipe = io.popen(command)
   local text = pipe:read '*a'
   pipe:close()
   return text
end

--- Two devices for each rank whose memory MPI cannot read: one GPU twice if specs run on a GPU.
ranks.devices = require('spec.support.gpu').isHere and 'cuda:0,0' or 'emulated:2'

--- Returns nil, or the reason why no ranks can be started here.
function ranks.missing()
   if output 'command -v mpirun' == '' then return 'there is no mpirun' end
   local plugin = io.open(library:gsub('[^/]*$', '') .. 'libdpt_mpi.so')
   if not plugin then return 'dpt was built without MPI' end
   plugin:close()
end

--- Returns nil, or the reason why ranks cannot run on several hosts here.
function ranks.hostsMissing()
   if ranks.missing() then return ranks.missing() end
   if output 'unshare --uts true 2>&1 && echo works' ~= 'works\n' then
      return 'no process can have a host name of its own here (unshare --uts)'
   end
end

-- Runs a command that starts mpirun as its child. hosts: on that many hosts with `slots` each,
-- listed in $TMPDIR/hosts. Hosts are names of this machine: they share its files, processes and lo.
local function watched(command, environment, after, hosts, slots)
   local text = output(([[
      export TMPDIR=$(mktemp -d) %s
      for i in $(seq %d); do
         echo "node$i slots=%d" >>$TMPDIR/hosts
         export OMPI_MCA_plm_rsh_agent=$PWD/spec/support/ranks/host.sh
         export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
      done
      timeout -k 5 300 %s 2>&1 </dev/null &
      run=$!
      (looks=0
      while sleep 5; do
         mpirun=$(pgrep -P "$(pgrep -P $run)") || continue
         if ps -o stat= --ppid $mpirun | grep -qv '^Z'; then looks=0; else looks=$((looks + 1)); fi
         [ $looks -lt 6 ] || kill -KILL $mpirun
      done) >/dev/null 2>&1 &
      looks=$!
      wait $run
      status=$?
      kill $looks
      [ $status != 124 ] || echo 'hang: ended after 300 s'
      %s
      rm -rf "$TMPDIR"
      echo "status $status"]]):format(environment or '', hosts or 0, slots or 0, command,
         after or ':'))
   local written, status = text:match '^(.*)status (%d+)\n$'
   return written, tonumber(status)
end

--- Runs spec/support/ranks/NAME.lua.
-- @param n ranks
-- @param words arguments after the program's name
-- @param environment such as 'DPT_TIMEOUT=2', or nil
-- @param after a command whose output is added, in the folder $TMPDIR with the records; or nil
-- @param hosts number of hosts for the ranks; default: only this one
-- @return its output, exit status
function ranks.run(n, name, words, environment, after, hosts)
   return watched(('scripts/dpt launch -n %d %s spec/support/ranks/%s.lua %s'):format(n,
      hosts and '--hosts $TMPDIR/hosts' or '', name, words or ''), environment, after, hosts,
      hosts and math.ceil(n / hosts))
end

--- Runs a shell command as each of n ranks, without `dpt launch`. Returns the same.
function ranks.shell(n, command, environment)
   return watched(([[sh -c 'mpirun -n %d --bind-to none --allow-run-as-root --oversubscribe \
      sh -c "$0"; exit $?' '%s']]):format(n, command), environment)
end

-- Asserts that ranks ended together, with their own status, not by the time limit.
local function asserted(said, text, status)
   luassert.not_equal(0, status, text)
   luassert.not_equal(124, status, text)
   luassert.matches(said, text)
   luassert.not_matches('has taken longer than 100 s', text)
end

--- Asserts that ranks.run(...) fails within 100 s, with a message that matches `said`.
function ranks.fails(said, ...)
   local why = select(6, ...) and ranks.hostsMissing() or ranks.missing()
   if why then return busted.pending(why) end
   asserted(said, ranks.run(...))
end

--- Asserts the same of ranks.shell(...).
function ranks.shellFails(said, ...)
   if ranks.missing() then return busted.pending(ranks.missing()) end
   asserted(said, ranks.shell(...))
end

--- Asserts that ranks.run(...) succeeds and prints `said`.
-- @param said text
function ranks.ends(said, ...)
   local why = select(6, ...) and ranks.hostsMissing() or ranks.missing()
   if why then return busted.pending(why) end
   local text, status = ranks.run(...)
   luassert.equal(0, status, text)
   luassert.matches(said, text, 1, true)
end

--- Runs a program whose checks print "NAME holds", once for each number of ranks.
-- @param counts of ranks, as '1 2 3'
-- @param devices DPT_DEVICES, unless a check names others
-- @return function(name [, devices]) that asserts that the check of that name has passed; 'the end'
-- means that the ranks have ended with status 0
function ranks.checks(program, counts, devices)
   local outputs = {}
   return function(name, others)
      if ranks.missing() then return busted.pending(ranks.missing()) end
      for n in counts:gmatch '%d+' do
         local key = n .. (others or '')
         if not outputs[key] then
            local text, status = ranks.run(tonumber(n), program, '', 'DPT_DEVICES='
               .. (others or devices))
            outputs[key] = text .. (status == 0 and 'the end holds\n' or 'status ' .. status)
         end
         luassert.matches(name .. ' holds\n', outputs[key], 1, true)
      end
   end
end

return ranks
