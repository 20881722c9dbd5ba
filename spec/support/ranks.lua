--- Runs a program as several ranks on this machine, by mpirun.
--
-- Invariant: what a run leaves (records of ranks) goes with its folder; a run that hangs is ended
-- after minutes, which only a hang takes. Open MPI 4.1.4's mpirun sometimes waits for itself
-- (PMIx_server_finalize) if ranks ended while they were being connected: it is killed when no rank
-- has been alive for half a minute, and the run's status is that.
local busted, luassert = require 'busted', require 'luassert'

local ranks = {}

local library = os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'

local function output(command)
   local pipe = io.popen(command)
   local text = pipe:read '*a'
   pipe:close()
   return text
end

--- Two devices of each rank whose memory MPI cannot read: one GPU twice where specs run on a GPU.
ranks.devices = require('spec.support.gpu').isHere and 'cuda:0,0' or 'emulated:2'

--- nil, or why no ranks can be started here.
function ranks.missing()
   if output 'command -v mpirun' == '' then return 'there is no mpirun' end
   local plugin = io.open(library:gsub('[^/]*$', '') .. 'libdpt_mpi.so')
   if not plugin then return 'dpt was built without MPI' end
   plugin:close()
end

--- Runs spec/support/ranks/NAME.lua.
-- @param n ranks
-- @param words behind the program's name
-- @param environment as 'DPT_TIMEOUT=2', or nil
-- @param after a command whose output is added, in the folder $TMPDIR that has the records; or nil
-- @return what it wrote, exit status
function ranks.run(n, name, words, environment, after)
   local text = output(([[
      export TMPDIR=$(mktemp -d) %s
      timeout -k 5 300 scripts/dpt launch -n %d spec/support/ranks/%s.lua %s 2>&1 </dev/null &
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
      echo "status $status"]]):format(environment or '', n, name, words or '', after or ':'))
   local written, status = text:match '^(.*)status (%d+)\n$'
   return written, tonumber(status)
end

--- What a program's checks need that print "NAME holds": each is run once on each number of ranks.
-- @param counts of ranks, as '1 2 3'
-- @param devices DPT_DEVICES, if a check names no other
-- @return function(name [, devices]) that asserts that the check of that name has passed
function ranks.checks(program, counts, devices)
   local outputs = {}
   return function(name, others)
      if ranks.missing() then return busted.pending(ranks.missing()) end
      for n in counts:gmatch '%d+' do
         local key = n .. (others or '')
         outputs[key] = outputs[key] or ranks.run(tonumber(n), program, '', 'DPT_DEVICES='
            .. (others or devices))
         luassert.matches(name .. ' holds\n', outputs[key], 1, true)
      end
   end
end

return ranks
