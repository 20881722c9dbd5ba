--- Runs Lua code in its own process: for calls that work only once in a process, or that end it.
local run = {}

-- Calls f with the name of a file that contains the code, and removes the file.
local function withFile(code, f)
   local name = os.tmpname()
   local file = assert(io.open(name, 'w'))
   file:write(code)
   file:close()
   local results = {f(name)}
   os.remove(name)
   return unpack(results)
end

-- Returns a command's output, without dpt's warning about a LuaJIT that lacks Lua 5.2's features.
local function output(command)
   local pipe = assert(io.popen(command))
   local text = pipe:read '*a'
   pipe:close()
   return (text:gsub("dpt: this LuaJIT lacks Lua 5.2's features[^\n]*\n", ''))
end

--- Sets the child's LUA_PATH: this tree, then this process's path.
run.path = ("LUA_PATH='./lua/?.lua;./lua/?/init.lua;%s'"):format(os.getenv 'LUA_PATH' or ';')

--- Returns the output of the code, stdout and stderr.
-- @param environment additional variables
function run.lua(code, environment)
   local words = {run.path}
   for name, value in pairs(environment or {}) do
      words[#words + 1] = ("%s='%s'"):format(name, value)
   end
   return withFile(code, function(file)
      return output(table.concat(words, ' ') .. ' luajit ' .. file .. ' 2>&1')
   end)
end

--- Returns the output of the code, stdout and stderr, followed by its exit status; 124: it was
-- killed after five minutes, which only a hang takes.
-- @param before a shell command to run first, as in 'ulimit -v 700000'
function run.ended(code, before)
   return withFile(code, function(file)
      local command = '%s; %s timeout -k 1 300 luajit %s 2>&1; printf $?'
      return output(command:format(before or ':', run.path, file))
   end)
end

-- Starts a program, waits until it has printed `ready` and for 0.3 s of work, sends SIGINT, and
-- kills it a minute later. Prints the exit status as a shell reports it, the seconds until it was
-- ready and those from the signal to the end. A shell would make the program ignore the signal.
local interrupter = [[
   use Time::HiRes qw(time sleep);
   my ($file, @command) = @ARGV;
   my $begun = time;
   my $process = fork;
   if (!$process) {
      $SIG{INT} = "DEFAULT";
      open STDOUT, ">", $file;
      open STDERR, ">&STDOUT";
      exec @command;
   }
   sub ready {
      open my $text, "<", $file;
      return grep /ready/, <$text>;
   }
   sleep 0.01 until ready() or time > $begun + 300;
   my $ready = time;
   sleep 0.3;
   $SIG{ALRM} = sub { kill KILL => $process };
   alarm 60;
   my $sent = time;
   kill INT => $process;
   waitpid $process, 0;
   my $signal = $? & 127;
   printf "%d %f %f", $signal ? 128 + $signal : $? >> 8, $ready - $begun, time - $sent;
]]

--- Ends a program by Ctrl-C after it has printed `ready`, unbuffered.
-- @param command words for a shell
-- @return the exit status, 130 if SIGINT ended it; true if it ended in less than a second, or on a
-- slow machine in less than five times the time that the program took to start; output
function run.interrupt(command)
   return withFile('', function(file)
      local line = output(("%s perl -e '%s' %s %s"):format(run.path, interrupter, file, command))
      local status, begin, stop = line:match '^(%d+) (%S+) (%S+)$'
      local out = io.open(file)
      local text = out:read '*a'
      out:close()
      return tonumber(status), tonumber(stop) < 1 + 5 * tonumber(begin), text
   end)
end

--- Does the same for Lua code.
function run.interrupted(code)
   return withFile("io.stdout:setvbuf 'no' " .. code, function(file)
      return run.interrupt('luajit ' .. file)
   end)
end

return run
