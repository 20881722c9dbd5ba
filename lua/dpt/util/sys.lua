--- sys: Torch7's clock, shell commands and terminal colours.
local dptffi = require 'dpt.ffi'
local paths = require 'dpt.util.paths'
local want = require 'dpt.class.want'
local C = dptffi.C

local sys = {dirname = paths.dirname, concat = paths.concat}

--- Seconds since 1970, with a fraction.
function sys.clock() return C.dpt_epoch() end

local started = C.dpt_clock()

--- Starts the one stop watch; sys.toc returns the seconds since then.
-- @param verbose also prints them
function sys.tic() started = C.dpt_clock() end

function sys.toc(verbose)
   local seconds = C.dpt_clock() - started
   if verbose then print(seconds) end
   return seconds
end

function sys.sleep(seconds) C.dpt_sleep(want('sys.sleep', 'seconds', seconds, 'number')) end

function sys.usleep(microseconds)
   C.dpt_sleep(1e-6 * want('sys.usleep', 'microseconds', microseconds, 'number'))
end

--- What a shell command printed, errors too, without white space around it.
function sys.execute(command)
   want('sys.execute', 'command', command, 'string')
   return (paths.execute('{ ' .. command .. '\n} 2>&1'):gsub('^%s+', ''):gsub('%s+$', ''))
end
sys.fexecute = sys.execute

--- 'linux' or 'macos'.
function sys.uname() return jit.os == 'OSX' and 'macos' or jit.os:lower() end
sys.OS = sys.uname()

--- The folder above the bin/ in which the running LuaJIT lies.
sys.prefix = paths.execdir():gsub('/bin$', '')

--- What `ls` (and `ls -l`, `-a`, `-la`) prints of a folder, default the current one.
function sys.ls(folder) return sys.execute('ls ' .. (folder or '')) end
function sys.ll(folder) return sys.execute('ls -l ' .. (folder or '')) end
function sys.la(folder) return sys.execute('ls -a ' .. (folder or '')) end
function sys.lla(folder) return sys.execute('ls -la ' .. (folder or '')) end

--- Folder and name of the file that calls this.
function sys.fpath()
   local path = paths.thisfile(nil, 3)
   return paths.dirname(path), paths.basename(path)
end

--- The parts of a text between the matches of a pattern; an empty first one is left out.
function sys.split(text, pattern)
   want('sys.split', 'text', text, 'string')
   want('sys.split', 'pattern', pattern, 'string')
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

function sys.isNaN(number) return number ~= number end

--- Escape codes for terminals: red, Red (bold), _red (background) ..., none.
sys.COLORS = {none = '\27[0m'}
for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   sys.COLORS[name] = '\27[0;' .. 29 + i .. 'm'
   sys.COLORS[name:sub(1, 1):upper() .. name:sub(2)] = '\27[1;' .. 29 + i .. 'm'
   sys.COLORS['_' .. name] = '\27[' .. 39 + i .. 'm'
end

return sys
