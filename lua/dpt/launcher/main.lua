--- dpt.launcher.main: what the command `dpt` runs: a Lua file with dpt loaded, or the prompt.
--
-- Invariant: the script sees `arg` and `...` as under luajit itself; an error ends the process with
-- status 1 and a traceback that shows the script's frames only. dpt is loaded in the same protected
-- call as the script, so that Ctrl-C keeps the meaning that dpt gives it.
local own = arg
local interactive, file, profile = false, nil, nil
local steps = {} -- what -l and -e ask for, in order

local i = 1
while own[i] do
   local word = own[i]
   local letter, rest = word:match('^%-([le])(.*)$')
   if letter then
      if rest == '' then
         i = i + 1
         rest = own[i]
      end
      if not rest then
         io.stderr:write('dpt: -', letter, ' wants a word after it\n')
         os.exit(2)
      end
      steps[#steps + 1] = {letter, rest}
   elseif word == '-i' then
      interactive = true
   elseif word:find '^%-%-profile=.' then
      profile = word:match '=(.*)$'
   elseif word:sub(1, 1) == '-' and word ~= '-' then
      io.stderr:write("dpt: unknown option '", word, "'; dpt --help lists them\n")
      os.exit(2)
   else
      file = word
      break
   end
   i = i + 1
end

local words = {[-1] = own[-1] or 'luajit', [0] = file or 'dpt'}
for k = i + 1, #own do words[k - i] = own[k] end

--- The traceback without the frames of this file.
local function explain(why)
   local text = debug.traceback(tostring(why), 2)
   return (text:gsub("\n%s*%[C%]: in function 'xpcall'.*$", ''))
end

-- One of several ranks ends them all with its message, and does not return.
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
      io.stderr:write('dpt: ' .. why .. '\n') -- at once: other ranks write, too
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
-- Penlight, if it is installed, as Torch7's `th` had it: path, tablex, stringx, lapp, List ...
-- as globals that are loaded when they are used, and 'text' % values.
if pcall(require, 'pl') then pcall(function() _G.stringx.format_operator() end) end
for _, step in ipairs(steps) do
   if step[1] == 'l' then
      protect(require, step[2])
   else
      protect(loaded(require('dpt.launcher.repl').command(step[2])))
   end
end
if profile then protect(require('dpt.launcher.profile').begin, profile) end
local terminal = require('dpt.ffi').C.dpt_terminal(0) == 1
if file then
   -- luajit calls the program on the standard input "stdin" too
   protect(loaded(loadfile(file ~= '-' and file or nil)), unpack(words, 1, #words))
end
if interactive or (not file and #steps == 0) then
   if terminal or interactive then
      require('dpt.launcher.repl').run(terminal)
   else
      protect(loaded(loadfile()))
   end
end
if profile then protect(require('dpt.launcher.profile').finish) end
