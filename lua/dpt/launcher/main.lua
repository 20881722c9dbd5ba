--- dpt.launcher.main: the command `dpt`: runs a Lua file with dpt loaded, or the prompt.
--
-- Invariant: the script sees `arg` and `...` as under luajit itself; an error ends the process with
-- status 1 and a traceback with only the script's frames. dpt is loaded in the same protected
-- call as the script, so that Ctrl-C keeps dpt's meaning.
local options = require 'dpt.launcher.options'

local function reject(why)
   io.stderr:write('dpt: ', why, '; dpt --help lists the options\n')
   os.exit(2)
end

local given, words = options.read(arg, {['-l'] = 'text', ['-e'] = 'text', ['-i'] = 'flag',
   ['--profile'] = 'text'})
if not given then reject(words) end
local file, profile, interactive = table.remove(words, 1), given['--profile'], given['-i']
-- `--profile train.lua` would overwrite the program
if profile and not file and profile:find '%.lua$' then
   reject(("--profile wants a file to write, and then the program: got '%s'"):format(profile))
end
words[-1], words[0] = arg[-1] or 'luajit', file or 'dpt'

--- Returns the traceback without this file's frames and without the prefix of the message.
local function explain(why)
   why = tostring(why):gsub('^dpt: ', '')
   if why:find('(a nil value)', 1, true) then why = require('dpt.launcher.help').explain(why) end
   local text = debug.traceback(why, 2)
   return (text:gsub("\n%s*%[C%]: in function 'xpcall'.*$", ''))
end

-- If this is one of several ranks, aborts all ranks with its message and does not return.
local function fail(why)
   local there, dptffi = pcall(require, 'dpt.ffi')
   if there then dptffi.C.dpt_world_failed(why) end
end

local function protect(f, ...)
   local parameters, count = {...}, select('#', ...)
   local ok, why = xpcall(function() return f(unpack(parameters, 1, count)) end, explain)
   if not ok then
      io.stdout:flush()
      fail(why)
      io.stderr:write('dpt: ' .. why .. '\n') -- in one call: other ranks write, too
      os.exit(1, true)
   end
end

local function loaded(chunk, why)
   if chunk then return chunk end
   io.stderr:write('dpt: ' .. why .. '\n')
   os.exit(1)
end

local compat = require 'dpt.compat'
compat.setArguments(words)
protect(require, 'dpt')
compat.setPrint(require('dpt.launcher.repl').printer(print))
compat.setRequire(require 'dpt.launcher.require'(require))
-- Penlight, if installed, as in Torch7's `th`: path, tablex, stringx, lapp, List ... as globals
-- that are loaded on first use, and 'text' % values.
if pcall(require, 'pl') then pcall(function() _G.stringx.format_operator() end) end
compat.setLazy 'dok'
for _, step in ipairs(given) do
   if step[1] == '-l' then
      protect(require, step[2])
   elseif step[1] == '-e' then
      protect(loaded(require('dpt.launcher.repl').command(step[2])))
   end
end
if profile then protect(require('dpt.launcher.profile').begin, profile) end
local terminal = require('dpt.ffi').C.dpt_terminal(0) > 0
if file then
   compat.hideCudnn()
   -- luajit, too, calls a program on standard input "stdin"
   protect(loaded(loadfile(file ~= '-' and file or nil)), unpack(words, 1, #words))
end
if interactive or not (file or given['-l'] or given['-e']) then
   if terminal or interactive then
      compat.showCudnn()
      require('dpt.launcher.repl').run(terminal)
   else
      compat.hideCudnn()
      protect(loaded(loadfile()))
   end
end
if profile then protect(require('dpt.launcher.profile').finish) end
