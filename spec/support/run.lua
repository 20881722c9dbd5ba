--- Runs Lua code in a process of its own: for what a process can do only once, or what ends it.
local run = {}

-- Calls f with the name of a file that holds the code, and removes it.
local function withFile(code, f)
   local name = os.tmpname()
   local file = assert(io.open(name, 'w'))
   file:write(code)
   file:close()
   local result = f(name)
   os.remove(name)
   return result
end

-- Without what dpt says once under a LuaJIT that lacks Lua 5.2's features.
local function output(command)
   local pipe = assert(io.popen(command))
   local text = pipe:read '*a'
   pipe:close()
   return (text:gsub("dpt: this LuaJIT lacks Lua 5.2's features[^\n]*\n", ''))
end

local path = "LUA_PATH='./lua/?.lua;./lua/?/init.lua;;'"

--- What the code prints, to stdout and stderr.
-- @param environment variables beside those of this process
function run.lua(code, environment)
   local words = {path}
   for name, value in pairs(environment or {}) do
      words[#words + 1] = ("%s='%s'"):format(name, value)
   end
   return withFile(code, function(file)
      return output(table.concat(words, ' ') .. ' luajit ' .. file .. ' 2>&1')
   end)
end

--- What the code prints, to stdout and stderr, with its exit status behind it; it is killed after
-- so many seconds, the status then is 124.
-- @param before what the shell does first, as in 'ulimit -v 700000'
function run.timed(code, seconds, before)
   return withFile(code, function(file)
      local command = '%s; %s timeout -k 1 %g luajit %s 2>&1; printf $?'
      return output(command:format(before or ':', path, seconds, file))
   end)
end

--- The exit status, as a shell tells it, of code that gets a SIGINT after so many seconds, and is
-- killed 5 s later.
function run.interrupted(code, seconds)
   return withFile(code, function(file)
      local command = '%s timeout --preserve-status -s INT -k 5 %g luajit %s >/dev/null 2>&1;'
         .. ' echo $?'
      return tonumber(output(command:format(path, seconds, file)))
   end)
end

return run
