-- Tests the prompt in a terminal, in a tmux session. It is not named as a spec: the step `prompt`
-- runs it and installs tmux.
--
-- Invariant: each step waits for its expected output, up to a time that only a hang exceeds.
local paths = require('dpt').paths
local read = require 'spec.support.read'
local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))

local folder = os.tmpname()
os.remove(folder)
local sessions, server = 0, nil

local function output(command)
   local pipe = io.popen(command .. ' 2>&1')
   local text = pipe:read '*a'
   pipe:close()
   return text
end

local function screen() return output(server .. 'capture-pane -p -J -S -200') end

--- Waits until the screen's end matches, up to two minutes: longer than a busy machine needs.
local function shows(pattern)
   local text
   for _ = 1, 1200 do
      text = screen():gsub('%s+$', '')
      if text:find(pattern) then return text end
      os.execute 'sleep 0.1'
   end
   error(("the screen does not show '%s' but:\n%s"):format(pattern, text))
end

local function keys(...)
   for _, key in ipairs{...} do output(("%ssend-keys '%s'"):format(server, key)) end
end

local function stop()
   if server then output(server .. 'kill-server') end
end

-- Each session has its own server, since a server that is ending may still exist.
local function start(colours)
   stop()
   sessions = sessions + 1
   server = ('tmux -L %s-%d '):format(paths.basename(folder), sessions)
   -- a Ctrl-C after dpt has ended must end neither the shell nor the process that keeps the screen
   output(([[%snew-session -d -x 100 -y 50 -e DPT_HISTORY=%s/history -e DPT_DEVICES=host:2 -e %s \
      'trap : INT; %s/scripts/dpt; echo ended with $?; trap "" INT; exec sleep 600']]):format(
      server, folder, colours or 'NO_COLOR=1', root))
   shows 'Ctrl%-D leaves\ndpt>$'
end

-- Enters lines one by one: sends a line and waits for the next prompt after its output.
local function line(text, printed)
   keys((text:gsub("'", [['\'']])), 'Enter')
   return shows(printed .. '\ndpt>$')
end

describe('The prompt in a terminal', function()
   setup(function() os.execute('mkdir ' .. folder) end)
   teardown(function()
      stop()
      os.execute('rm -r ' .. folder)
   end)
   before_each(function() start() end)

   it('completes names, and lists them at a second Tab', function()
      keys('nn.LogS', 'Tab', 'Tab')
      shows 'nn%.LogSigmoid +nn%.LogSoftMax\ndpt> nn%.LogS$'
      keys('i', 'Tab')
      shows 'dpt> nn%.LogSigmoid$'
      keys('()', 'Enter')
      shows '\nnn%.LogSigmoid\n.*dpt>$'
   end)

   it('completes files in a string', function()
      assert(io.open(folder .. '/only_one.lua', 'w')):close()
      keys('"' .. folder .. '/on', 'Tab')
      shows 'only_one%.lua$'
   end)

   it('restores the lines of an earlier session', function()
      line('kept = 6 * 7', 'kept = 6 %* 7.-')
      line('kept', '\n42.-')
      keys 'C-d'
      shows 'ended with 0'
      start()
      keys('Up', 'Up')
      shows 'dpt> kept = 6 %* 7$'
      keys('Enter')
      shows 'kept = 6 %* 7.*dpt>$'
      line('kept + 1', '\n43.-')
   end)

   it('prints the reference of a name, and runs a command of the shell', function()
      line('? nn.Tanh', 'nn%.Tanh%(%).-')
      line('$ echo from the shell', '\nfrom the shell')
   end)

   -- The printed text shows that the line runs: before that, Ctrl-C would edit the line.
   local function endless(body)
      keys(([[print "begun" while true do %s end]]):format(body or ''), 'Enter')
      shows '\nbegun$'
   end

   it('returns after Ctrl-C has ended a loop, with its variables', function()
      line('held = 12', 'held = 12.-')
      endless()
      keys 'C-c'
      shows 'interrupted!.*\ndpt>$'
      line('held', '\n12.-')
   end)

   it('ends the process at a second Ctrl-C within two seconds', function()
      -- The line catches the first one: at the prompt, the second one would be a key. Both are
      -- sent at once: a busy machine may take two seconds to react to the first.
      endless 'pcall(function() while true do end end)'
      keys('C-c', 'C-c')
      shows 'ended with 130[%^C\n]*$'
   end)

   it('colours prompts and errors, and prints how long a line took', function()
      start 'NO_COLOR='
      keys('nothing()', 'Enter')
      local shown = shows 'stdin:1: attempt to call.*\n%[0%.%d+s%]\ndpt>$'
      assert.is_nil(shown:find('\27', 1, true))
      local coloured = output(server .. 'capture-pane -e -p')
      assert.matches('\27%[1m\27%[34mdpt>', coloured)
      assert.matches('\27%[31mstdin:1: attempt to call', coloured)
   end)

   it('runs the blocks of the first pages as they are pasted, line by line', function()
      local count = 0
      local pages = read 'README.md' .. read 'docs/start.md' .. read 'docs/from-pytorch.md'
      for block in pages:gmatch '```lua\n(.-)```' do
         count = count + 1
         local file = assert(io.open(folder .. '/block', 'w'))
         file:write(block, ("print('end of ' .. %d)\n"):format(count))
         file:close()
         output(("%sload-buffer '%s/block'"):format(server, folder))
         output(server .. 'paste-buffer')
         local shown = shows(('\nend of %d\n.*dpt>$'):format(count))
         assert.is_nil(shown:find('stack traceback', 1, true), shown)
         assert.is_nil(shown:find('stdin:', 1, true), shown)
         output(server .. 'clear-history')
      end
      assert.is_true(count > 7)
   end)

   it('forgets a line at Ctrl-C, also one that was not complete', function()
      keys('for i = 1, 2 do', 'Enter')
      shows '%.%.>$'
      keys('print(i)', 'C-c')
      shows '%^C%s*\ndpt>$'
      line('7 + 1', '\n8.-')
   end)

   it('runs no codes of keys', function()
      line('marker = 1', 'marker = 1.-')
      keys('Escape', '[24~')
      keys('C-u', 'marker', 'Enter')
      shows '\n1\n.*dpt>$'
      assert.is_nil(screen():find('bytecode', 1, true))
   end)
end)
