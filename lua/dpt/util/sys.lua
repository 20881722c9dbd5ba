--- sys: Torch7's clock, shell commands and terminal colours.
local dptffi = require 'dpt.ffi'
local paths = require 'dpt.util.paths'
local expect = require 'dpt.class.expect'
local C = dptffi.C

--- Returns the path without its last part, as paths.dirname does.
-- @function sys.dirname
-- @as sys
-- @param path string: of a file or a folder
-- @return a string
-- @usage sys.dirname '/x/y' --> /x
local sys = {dirname = paths.dirname, concat = paths.concat}

--- Returns the seconds since 1970, with a fraction.
-- @function sys.clock
-- @as sys
-- @return a number
-- @usage sys.clock() -- 1764000000.25, say
function sys.clock() return C.dpt_epoch() end

local started = C.dpt_clock()

--- Starts the global stopwatch.
-- @function sys.tic
-- @as sys
-- @return nothing
-- @usage sys.tic()
--    torch.rand(10, 10):svd()
--    return sys.toc() -- 0.001, say
function sys.tic() started = C.dpt_clock() end

--- Returns the seconds since sys.tic.
-- @function sys.toc
-- @as sys
-- @param verbose? boolean: true: also prints them
-- @return a number
-- @usage sys.tic()
--    sys.sleep(0.001)
--    return sys.toc() -- 0.0011, say
function sys.toc(verbose)
   local seconds = C.dpt_clock() - started
   if verbose then print(seconds) end
   return seconds
end

--- Sleeps for a number of seconds.
-- @function sys.sleep
-- @as sys
-- @param seconds number: the duration
-- @return nothing
-- @usage local start = torch.tic()
--    sys.sleep(0.001)
--    return torch.toc(start) -- 0.001 at least
function sys.sleep(seconds) C.dpt_sleep(expect('sys.sleep', 'seconds', seconds, 'number')) end

--- Sleeps for a number of microseconds.
-- @function sys.usleep
-- @as sys
-- @param microseconds number: the duration
-- @return nothing
-- @usage local start = torch.tic()
--    sys.usleep(1000)
--    return torch.toc(start) -- 0.001 at least
function sys.usleep(microseconds)
   C.dpt_sleep(1e-6 * expect('sys.usleep', 'microseconds', microseconds, 'number'))
end

--- Runs a shell command and returns its output and errors, without surrounding white space.
-- @function sys.execute
-- @as sys
-- @also sys.fexecute
-- @param command string: for the shell
-- @return a string
-- @usage sys.execute 'echo abc' --> abc
function sys.execute(command)
   expect('sys.execute', 'command', command, 'string')
   return (paths.execute('{ ' .. command .. '\n} 2>&1'):gsub('^%s+', ''):gsub('%s+$', ''))
end
sys.fexecute = sys.execute

--- Returns the name of the operating system in lower case; also stored as sys.OS.
-- @function sys.uname
-- @as sys
-- @also sys.OS
-- @return 'linux' or 'macos'
-- @usage sys.uname() -- linux or macos
function sys.uname() return jit.os == 'OSX' and 'macos' or jit.os:lower() end
sys.OS = sys.uname()

--- The folder above the bin/ of the running LuaJIT.
-- @field sys.prefix
-- @as sys
-- @return a string
-- @usage sys.prefix -- /usr, if LuaJIT is /usr/bin/luajit
sys.prefix = paths.execdir():gsub('/bin$', '')

--- Returns the output of `ls`; ll: of `ls -l`, la: of `ls -a`, lla: of `ls -la`.
-- @function sys.ls
-- @as sys
-- @also sys.ll
-- @also sys.la
-- @also sys.lla
-- @param folder? string: its path (the current one)
-- @return a string
-- @usage sys.la('/'):sub(1, 1) --> .
function sys.ls(folder) return sys.execute('ls ' .. (folder or '')) end
function sys.ll(folder) return sys.execute('ls -l ' .. (folder or '')) end
function sys.la(folder) return sys.execute('ls -a ' .. (folder or '')) end
function sys.lla(folder) return sys.execute('ls -la ' .. (folder or '')) end

--- Returns folder and name of the calling file.
-- @function sys.fpath
-- @as sys
-- @return two strings
-- @usage local line = 'local folder, name = sys.fpath() return folder, name'
--    return loadstring(line, '@/home/me/train.lua')() --> /home/me, train.lua
function sys.fpath()
   local path = paths.thisfile(nil, 3)
   return paths.dirname(path), paths.basename(path)
end

--- Splits a string at the matches of a pattern.
-- @function sys.split
-- @as sys
-- @param text string: the string to split
-- @param pattern string: a Lua pattern
-- @return a list of strings, without an empty first one
-- @usage sys.split('a,b,c', ',') --> {a b c}
function sys.split(text, pattern)
   expect('sys.split', 'text', text, 'string')
   expect('sys.split', 'pattern', pattern, 'string')
   local parts, from = {}, 1
   while true do
      local first, last = text:find(pattern, from)
      if not first or last < first then break end
      if first > 1 then parts[#parts + 1] = text:sub(from, first - 1) end
      from = last + 1
   end
   if from <= #text then parts[#parts + 1] = text:sub(from) end
   return parts
end

--- Returns true if a number is NaN.
-- @function sys.isNaN
-- @as sys
-- @param number number: the number to test
-- @return a boolean
-- @usage sys.isNaN(0 / 0), sys.isNaN(1) --> true, false
function sys.isNaN(number) return number ~= number end

--- Escape codes of terminals: red (plain), Red (bold), _red (background) and so on, and none.
-- @field sys.COLORS
-- @as sys
-- @also sys.COLORS.none
-- @also sys.COLORS.black
-- @also sys.COLORS.red
-- @also sys.COLORS.green
-- @also sys.COLORS.yellow
-- @also sys.COLORS.blue
-- @also sys.COLORS.magenta
-- @also sys.COLORS.cyan
-- @also sys.COLORS.white
-- @also sys.COLORS.Black
-- @also sys.COLORS.Red
-- @also sys.COLORS.Green
-- @also sys.COLORS.Yellow
-- @also sys.COLORS.Blue
-- @also sys.COLORS.Magenta
-- @also sys.COLORS.Cyan
-- @also sys.COLORS.White
-- @return a table: name -> string
-- @usage #sys.COLORS.Red --> 7
sys.COLORS = {none = '\27[0m'}
for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   sys.COLORS[name] = '\27[0;' .. 29 + i .. 'm'
   sys.COLORS[name:sub(1, 1):upper() .. name:sub(2)] = '\27[1;' .. 29 + i .. 'm'
   sys.COLORS['_' .. name] = '\27[' .. 39 + i .. 'm'
end

--- Tags shared by the reference entries of sys.
-- @pattern sys
-- @within sys
-- @follows Torch7's package sys
-- @raise if an argument has the wrong type

--- Joins paths into an absolute path, as paths.concat does.
-- @function sys.concat
-- @as sys
-- @param ... string: any number of paths
-- @return a string
-- @usage sys.concat('/x', '../y') --> /y

return sys
