--- dpt.launcher.launch: `dpt launch -n 4 train.lua`: starts several ranks by mpirun.
--
-- Invariant: it builds mpirun's options and prints the command, which also works without dpt
-- launch. Its exit status is mpirun's.
local options = require 'dpt.launcher.options'
local shell = require 'dpt.launcher.shell'

local launch = {}

local USAGE = [[
usage: dpt launch [-n RANKS] [--hosts FILE] [--log FOLDER] [--tag] [--profile FILE] FILE [ARGS]

Runs FILE on RANKS ranks (default: one per core) with mpirun, and prints the command.
Passes DPT_*, OMP_*, LUA_PATH and LUA_CPATH to all hosts.
--hosts FILE   one line per host, in the format of mpirun's --hostfile: `node1 slots=4`
--log FOLDER   writes the output of rank N, stderr included, to FOLDER/rank-N.log
--tag          prefixes each line of output with its rank
--profile FILE writes a profile of rank N to NAME.rankN.json, if FILE is NAME.json
]]

local known = {['-n'] = 'number', ['--hosts'] = 'text', ['--log'] = 'text', ['--tag'] = 'flag',
   ['--profile'] = 'text'}

local function output(command) return shell.output(command .. ' 2>&1') end

local function quoted(word)
   if word:match '^[%w_./:=,@%%+-]+$' then return word end
   return "'" .. word:gsub("'", "'\\''") .. "'"
end

--- Returns the sorted names of the variables that are passed to ranks on other hosts.
-- @param environment output of `env -0`: NAME=VALUE, each followed by a zero byte
function launch.variables(environment)
   local names = {}
   for entry in environment:gmatch '[^%z]+' do
      local name = entry:match '^([%a_][%w_]*)='
      -- DPT_PROGRAM belongs to the command dpt itself: each rank's command sets its own
      if name and name ~= 'DPT_PROGRAM' and (name:find '^DPT_' or name:find '^OMP_'
         or name == 'LUA_PATH' or name == 'LUA_CPATH') then names[#names + 1] = name end
   end
   table.sort(names)
   return names
end

--- Returns mpirun's arguments for these ranks.
-- @param what {n = ranks, hosts = file or nil, tag = boolean}
-- @param about the machine: {library = text of mpirun --version, root = boolean, cores = n,
-- variables = names of variables that all ranks receive}
function launch.options(what, about)
   local words = {'mpirun', '-n', tostring(what.n)}
   local function add(...)
      for _, word in ipairs{...} do words[#words + 1] = word end
   end
   if about.library:find 'Open MPI' then
      if what.hosts then add('--hostfile', what.hosts) end
      -- by default mpirun binds a rank's threads to a single core
      add('--bind-to', 'none')
      if about.root then add '--allow-run-as-root' end
      if not what.hosts and what.n > about.cores then add '--oversubscribe' end
      if what.tag then
         local version = tonumber(about.library:match 'Open MPI%D*(%d+)') or 5
         if version < 5 then add '--tag-output' else add('--output', 'tag') end
      end
      -- ranks on other hosts receive no other variables; before version 5, -x has no wildcard
      for _, name in ipairs(about.variables or {}) do add('-x', name) end
   else
      -- MPICH's mpirun (Hydra) sends the whole environment to all hosts by itself
      if what.hosts then add('-f', what.hosts) end
      if what.tag then add '-prepend-rank' end
   end
   return words
end

--- Returns the words that run dpt and write its output to FOLDER/rank-N.log, by a shell: MPIs have
-- no common option for that. N is a variable of Open MPI, PMIx, MPICH or Slurm. Output is line
-- buffered, so that a killed rank's last lines are kept, and errors are in the right order.
-- @param folder an absolute path
function launch.logged(folder, program)
   local place = quoted(folder)
   return {'sh', '-c', ('mkdir -p %s && exec "$0" "$@" >%s/rank-${OMPI_COMM_WORLD_RANK:-'
      .. '${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}}.log 2>&1'):format(place, place), program,
      '-e', "local _ = io.stdout:setvbuf 'line'"}
end

-- Creates a folder; returns its absolute path, or nil and the reason.
local function makeFolder(folder)
   local path = quoted(folder:sub(1, 1) == '/' and folder or './' .. folder)
   local text = output(('{ mkdir -p %s && cd %s && pwd && echo made; }'):format(path, path))
   return text:match '^(/.*)\nmade\n$', (text:gsub('%s+$', ''))
end

--- Runs the command `dpt launch`.
-- @param words of the command line after `launch`
-- @param program the command dpt
-- @return exit status
function launch.run(words, program)
   local given, script = options.command('dpt launch', USAGE, words, known)
   if not given then return script end
   local what = {n = given['-n'] or tonumber(output 'nproc'), hosts = given['--hosts'],
      tag = given['--tag']}
   if not script[1] then return options.wrong('dpt launch', USAGE, 'missing argument FILE') end
   if what.n < 1 or what.n % 1 ~= 0 then
      return options.wrong('dpt launch', USAGE, "option '-n' is " .. what.n .. ', wanted 1, 2 ...')
   end
   if script[1] ~= '-' and not what.hosts then -- reported once instead of by each rank
      local chunk, why = loadfile(script[1])
      if not chunk then
         io.stderr:write('dpt launch: ', why, '\n')
         return 1
      end
   end
   local library = output 'mpirun --version'
   if not library:find '%d' then
      io.stderr:write('dpt launch: mpirun not found (Debian: apt-get install openmpi-bin)\n')
      return 1
   end
   local command = launch.options(what, {library = library, root = output 'id -u':match '^0%s*$',
      cores = tonumber(output 'nproc'), variables = launch.variables(shell.output 'env -0')})
   local started = {program}
   if given['--log'] then
      local folder, why = makeFolder(given['--log'])
      if not folder then
         io.stderr:write('dpt launch: cannot make the folder of --log: ', why, '\n')
         return 1
      end
      started = launch.logged(folder, program)
   end
   if given['--profile'] then started[#started + 1] = '--profile=' .. given['--profile'] end
   for _, list in ipairs{started, script} do
      for _, word in ipairs(list) do command[#command + 1] = word end
   end
   for k, word in ipairs(command) do command[k] = quoted(word) end
   local line = table.concat(command, ' ')
   io.stderr:write('dpt: ', line, '\n')
   local status, _, code = os.execute('exec ' .. line)
   if type(status) == 'number' then return status < 256 and status or math.floor(status / 256) end
   return status and 0 or code or 1 -- as Lua 5.2 returns it
end

--- Entry point of the shell script `dpt`.
function launch.main(words) return launch.run({unpack(words)}, os.getenv 'DPT_PROGRAM') end

return launch
