-- `dpt launch`: mpirun's options, and runs of two ranks.
local launch = require 'dpt.launcher.launch'
local output = require('dpt.launcher.shell').output
local ranks = require 'spec.support.ranks'

describe('dpt launch', function()
   local function line(what, about) return table.concat(launch.options(what, about), ' ') end

   -- Returns the output of a shell script, which begins with the program. It runs in a temporary
   -- folder, $here, with the program as run.lua; $dpt is the command.
   local function inFolder(script)
      return output(([[
         here=$(mktemp -d) dpt=$PWD/scripts/dpt
         exec 2>&1 </dev/null
         cd "$here" || exit 1
         cat >run.lua <<'LUA'
         %s
         cd /
         rm -rf "$here"]]):format(script))
   end

   it('fills in the options of Open MPI', function()
      local about = {library = 'mpirun (Open MPI) 4.1.4', cores = 4}
      assert.equal('mpirun -n 4 --bind-to none', line({n = 4}, about))
      assert.equal('mpirun -n 5 --bind-to none --oversubscribe', line({n = 5}, about))
      assert.equal('mpirun -n 9 --hostfile nodes --bind-to none',
         line({n = 9, hosts = 'nodes'}, about))
      about.root = true
      assert.equal('mpirun -n 1 --bind-to none --allow-run-as-root', line({n = 1}, about))
   end)

   it('fills in those of MPICH', function()
      assert.equal('mpirun -n 9 -f nodes', line({n = 9, hosts = 'nodes'},
         {library = 'HYDRA build details: 4.0.2', cores = 4, root = true}))
   end)

   it('requests the rank before each line from each MPI', function()
      for version, words in pairs{['(Open MPI) 4.1.4'] = '--bind-to none --tag-output',
         ['(Open MPI) 5.0.3'] = '--bind-to none --output tag',
         ['(Open MPI) 10.1'] = '--bind-to none --output tag'} do
         assert.equal('mpirun -n 2 ' .. words,
            line({n = 2, tag = true}, {library = 'mpirun ' .. version, cores = 2}))
      end
      assert.equal('mpirun -n 2 -prepend-rank',
         line({n = 2, tag = true}, {library = 'HYDRA build details: 4.0.2', cores = 2}))
   end)

   it('names the variables of dpt, OpenMP and Lua, sorted', function()
      local entries = {'OMP_NUM_THREADS=2', 'LUA_PATH=/a/?.lua;;', 'DPT_TIMEOUT=6', 'HOME=/root',
         'DPT_NOTE=two\nDPT_LINES=1', 'DPT_EMPTY=', 'DPT_PROGRAM=dpt', '_DPT_A=1', 'LUA_CPATH=;;',
         'LUA_INIT=x', 'MY_DPT_A=1', 'DPT=1', 'BASH_FUNC_DPT_f%%=() { :; }', 'dpt_a=1'}
      local names = launch.variables(table.concat(entries, '\0') .. '\0')
      assert.same({'DPT_EMPTY', 'DPT_NOTE', 'DPT_TIMEOUT', 'LUA_CPATH', 'LUA_PATH',
         'OMP_NUM_THREADS'}, names)
      assert.same({}, launch.variables '')
   end)

   it("makes Open MPI send variables to other hosts' ranks, as MPICH does", function()
      local about = {library = 'mpirun (Open MPI) 4.1.4', cores = 4,
         variables = {'DPT_DEVICES', 'LUA_PATH'}}
      assert.equal('mpirun -n 2 --hostfile nodes --bind-to none -x DPT_DEVICES -x LUA_PATH',
         line({n = 2, hosts = 'nodes'}, about))
      about.library = 'HYDRA build details: 4.0.2'
      assert.equal('mpirun -n 2 -f nodes', line({n = 2, hosts = 'nodes'}, about))
   end)

   it('prints its usage', function()
      local function run(words)
         return output('scripts/dpt launch ' .. words .. ' 2>&1; echo $?')
      end
      assert.matches('usage: dpt launch.*\n0\n$', run '--help')
      for _, words in ipairs{'', '-n 0 file', '-n two file', '-n 2', '-m 2 file', '--log',
         '--log a', '--tag', '--tags file', '-n 2 --log', '--tag=2 file', '-n=1.5 file'} do
         assert.matches('usage: dpt launch.*\n2\n$', run(words), words)
      end
   end)

   it('reports once why a program cannot be run', function()
      if ranks.missing() then return pending(ranks.missing()) end
      assert.equal('dpt launch: cannot open none.lua: No such file or directory\nstatus 1\n'
         .. "dpt launch: run.lua:1: '=' expected near 'is'\nstatus 1\n", inFolder [[this is no Lua
LUA
         for file in none.lua run.lua; do
            timeout -k 5 120 "$dpt" launch -n 2 $file
            echo "status $?"
         done]])
   end)

   it("writes a file for each rank, by any launcher's number", function()
      local folder = output 'mktemp -d':match '[^\n]+'
      for _, name in ipairs{'OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK', 'SLURM_PROCID'} do
         local words = launch.logged(folder .. "/a 'b", 'dpt')
         assert.same({'sh', '-c', 'dpt'}, {words[1], words[2], words[4]})
         local script = "'" .. words[3]:gsub("'", "'\\''") .. "'"
         assert.equal('out a  b\nerr\n', output(([[
            unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID
            %s=7 sh -c %s sh -c 'echo out "$@"; echo err >&2' sh 'a  b'
            cat %s/a\ \'b/rank-7.log
            rm -r %s/*]]):format(name, script, folder, folder)), name)
      end
      os.remove(folder)
   end)

   it('runs ranks that write to files of their own', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local text = inFolder [[
         print('rank', os.getenv 'OMPI_COMM_WORLD_RANK' or os.getenv 'PMI_RANK', ...)
         io.stderr:write 'an error\n'
LUA
         export DPT_DEVICES=none
         timeout -k 5 120 "$dpt" launch -n=2 --log="a 'b/c" run.lua 'x  y' 2>/dev/null
         echo "status $?"
         ls "a 'b/c"
         cat "a 'b/c"/*]]
      assert.equal('status 0\nrank-0.log\nrank-1.log\nrank\t0\tx  y\nan error\nrank\t1\tx  y\n'
         .. 'an error\n', text)
   end)

   it('records a profile of each rank', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local text = inFolder [[
         torch.CudaTensor(3):fill(1)
LUA
         DPT_DEVICES=host:1 timeout -k 5 120 "$dpt" launch -n 2 --profile step.json run.lua \
            2>/dev/null
         echo "status $?"
         grep -c '"fill"' step*.json]]
      assert.equal('status 0\nstep.rank0.json:1\nstep.rank1.json:1\n', text)
   end)

   it('reports that it cannot create the folder of --log', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local text = inFolder [[
         print 'ran'
LUA
         "$dpt" launch -n 2 --log run.lua/logs run.lua
         echo "status $?"]]
      assert.matches('^dpt launch: cannot make the folder of %-%-log: mkdir: .*run.lua.*\n'
         .. 'status 1\n$', text)
      assert.not_matches('ran\n', text)
   end)

   it('tags lines with the rank', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local text = inFolder [[
         print 'a line'
LUA
         DPT_DEVICES=none timeout -k 5 120 "$dpt" launch -n 2 --tag run.lua]]
      for rank = 0, 1 do assert.matches('\n%[[%d,]*' .. rank .. '%][^\n]*a line', text) end
   end)

   -- Each fake host has its own host name, and its processes begin with an empty environment, as
   -- with ssh.
   it('sets the same variables for the ranks of all hosts #hostonly', function()
      if ranks.missing() then return pending(ranks.missing()) end
      if not output 'mpirun --version 2>&1':find 'Open MPI' then return pending 'wants Open MPI' end
      if output 'unshare --uts true 2>&1 && echo yes' ~= 'yes\n' then
         return pending 'unshare --uts is not allowed'
      end
      local text = inFolder [[
         local host = io.open('/proc/sys/kernel/hostname'):read()
         local words = {host}
         for _, name in ipairs{'DPT_DEVICES', 'DPT_TIMEOUT', 'DPT_NOTE', 'OTHER'} do
            words[#words + 1] = ('%s=[%s]'):format(name, tostring(os.getenv(name)))
         end
         print(table.concat(words, ' '))
LUA
         cat >agent <<'SH'
#!/bin/sh
host=$1
shift
exec unshare --uts sh -c 'hostname "$0" && exec env -i HOME="$HOME" \
  PATH=/usr/local/bin:/usr/bin:/bin sh -c "$1"' "$host" "$*"
SH
         chmod +x agent
         printf 'node1 slots=1\nnode2 slots=1\n' >hosts
         export DPT_DEVICES=none DPT_TIMEOUT=77 DPT_NOTE="two words; it's
two \"lines\"" OTHER=here
         OMPI_MCA_plm_rsh_agent=$here/agent timeout -k 5 120 "$dpt" launch -n 2 --hosts hosts \
            --log logs run.lua
         echo "status $?"
         cat logs/*]]
      local found = {}
      for host, values in text:gmatch '(node%d) (.-OTHER=%[.-%])' do found[host] = values end
      local values = 'DPT_DEVICES=[none] DPT_TIMEOUT=[77] DPT_NOTE=[two words; it\'s\n'
         .. 'two "lines"] OTHER=[nil]'
      assert.same({node1 = values, node2 = values}, found, text)
      assert.matches('\nstatus 0\n', text)
   end)
end)
