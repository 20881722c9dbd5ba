--- dpt.launcher.launch: `dpt launch -n 4 train.lua`: several ranks by mpirun.
--
-- Invariant: it fills in mpirun's options and prints the command, which does the same without dpt's
-- help. Its exit status is mpirun's.
local shell = require 'dpt.launcher.shell'

local launch = {}

local USAGE = [[
usage: dpt launch [-n RANKS] [--hosts FILE] FILE [ARGS]

Runs FILE as so many ranks (default: one for each core) by mpirun, and prints the command.
--hosts FILE   a line for each host, as mpirun's --hostfile wants it: `node1 slots=4`
]]

local function output(command) return shell.output(command .. ' 2>&1') end

local function quoted(word)
   if word:match '^[%w_./:=,@%%+-]+$' then return word end
   return "'" .. word:gsub("'", "'\\''") .. "'"
end

--- mpirun's words for so many ranks.
-- @param what {n = ranks, hosts = file or nil}
-- @param about what the machine is: {library = text of mpirun --version, root = boolean, cores = n}
function launch.options(what, about)
   local words = {'mpirun', '-n', tostring(what.n)}
   local function add(...)
      for _, word in ipairs{...} do words[#words + 1] = word end
   end
   if about.library:find 'Open MPI' then
      if what.hosts then add('--hostfile', what.hosts) end
      -- a rank's threads have more than the one core that mpirun binds it to
      add('--bind-to', 'none')
      if about.root then add '--allow-run-as-root' end
      if not what.hosts and what.n > about.cores then add '--oversubscribe' end
   elseif what.hosts then
      add('-f', what.hosts)
   end
   return words
end

--- Runs the command `dpt launch`.
-- @param words behind `launch`
-- @param program the command dpt
-- @return exit status
function launch.run(words, program)
   local what, i = {}, 1
   while words[i] and words[i]:sub(1, 1) == '-' do
      local name = words[i] == '-n' and 'n' or words[i] == '--hosts' and 'hosts'
      if words[i] == '--help' or words[i] == '-h' then
         io.stdout:write(USAGE)
         return 0
      end
      if not name or not words[i + 1] then break end
      what[name] = words[i + 1]
      i = i + 2
   end
   what.n = what.n and tonumber(what.n) or not what.n and tonumber(output 'nproc')
   if not words[i] or words[i]:sub(1, 1) == '-' or not what.n or what.n < 1 or what.n % 1 ~= 0 then
      io.stderr:write(USAGE)
      return 2
   end
   local library = output 'mpirun --version'
   if not library:find '%d' then
      io.stderr:write('dpt launch: there is no mpirun (Debian: apt-get install openmpi-bin)\n')
      return 1
   end
   local command = launch.options(what, {library = library, root = output 'id -u':match '^0%s*$',
      cores = tonumber(output 'nproc')})
   command[#command + 1] = program
   for k = i, #words do command[#command + 1] = words[k] end
   for k, word in ipairs(command) do command[k] = quoted(word) end
   local line = table.concat(command, ' ')
   io.stderr:write('dpt: ', line, '\n')
   local status, _, code = os.execute('exec ' .. line)
   if type(status) == 'number' then return status < 256 and status or math.floor(status / 256) end
   return status and 0 or code or 1 -- Lua 5.2's way
end

--- For the shell script `dpt`.
function launch.main(words) return launch.run({unpack(words)}, os.getenv 'DPT_PROGRAM') end

return launch
