--- xlua: Torch7's progress bar and small helpers; other files of this folder add the rest.
--
-- Invariant: nothing here changes Lua's own libraries; dpt.compat does.
local dptffi = require 'dpt.ffi'
local paths = require 'dpt.util.paths'
local sys = require 'dpt.util.sys'
local expect = require 'dpt.class.expect'
local C, type = dptffi.C, dptffi.type

local xlua = {
   OptionParser = require 'dpt.util.optionparser',
   Profiler = require 'dpt.util.profiler',
}
for _, part in ipairs{require 'dpt.util.usage', require 'dpt.util.session'} do
   for name, f in pairs(part) do xlua[name] = f end
end
xlua.begin, xlua.set = nil, nil -- for dpt.compat

--- Formats a time by its two largest units, e.g. '1h2m', '3s140ms', '0ms'.
-- @function xlua.formatTime
-- @as xlua
-- @param seconds number: the time
-- @return a string
-- @usage xlua.formatTime(3720) --> 1h2m
function xlua.formatTime(seconds)
   expect('xlua.formatTime', 'seconds', seconds, 'number')
   local units = {{'D', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}, {'ms', 0.001}}
   local text, used = '', 0
   for _, unit in ipairs(units) do
      local n = math.floor(seconds / unit[2] + 1e-6)
      seconds = seconds - n * unit[2]
      if n > 0 and used < 2 then
         text, used = text .. n .. unit[1], used + 1
      end
   end
   return text == '' and '0ms' or text
end

local bar -- state of the current loop: start, and time and index of the last step

local WIDEST, TIMES, NARROWEST = 120, 30, 10 -- columns: of a line, of its times, of a bar

-- Returns the columns of a line on a terminal; the last column is left free.
local function room(terminal)
   local set = tonumber(os.getenv 'COLUMNS' or '')
   return math.min(set and set >= 1 and set or terminal, WIDEST) - 1
end

-- Returns a line of this width: the bar with the times, without them, or only the numbers.
local function lineOf(columns, current, goal, times)
   local line = (' %s/%s '):format(current, goal)
   local least, width = math.max(NARROWEST, #line), columns - #' [] ' - TIMES
   if width < least then width, times = columns - #' []', '' end
   if width >= least then
      local done = math.floor(current < goal and current * width / goal or width)
      local drawn = ('='):rep(done - 1) .. (done > 0 and '>' or '') .. ('.'):rep(width - done)
      local middle = math.floor((width - #line) / 2)
      line = (' [%s%s%s] %s'):format(drawn:sub(1, middle), line, drawn:sub(middle + #line + 1),
         times)
   end
   return (line .. (' '):rep(columns)):sub(1, columns)
end

--- Prints the progress of a loop: fraction done, time left, time of the last step. On a terminal it
-- redraws a bar as wide as the terminal (at most 120 columns; COLUMNS overrides the width);
-- elsewhere, as in a log, it prints a line for each tenth.
-- @function xlua.progress
-- @as xlua
-- @param current number: steps done, from 1; a smaller number than before begins a new loop
-- @param goal number: total number of steps
-- @return nothing
-- @usage local write, out = io.write, ''
--    io.write = function(text) out = out .. text end
--    xlua.progress(1, 2)
--    io.write = write
--    return out:match '%d/%d' --> 1/2
function xlua.progress(current, goal)
   local now, columns = C.dpt_clock(), C.dpt_terminal(1)
   local tenth = math.floor(current * 10 / goal)
   if not bar or current <= bar.index then
      bar = {index = current, time = now, start = now, first = current, tenth = 0}
   end
   local step = current > bar.index and (now - bar.time) / (current - bar.index) or 0
   local mean = current > bar.first and (now - bar.start) / (current - bar.first) or step
   local time = (current >= goal and 'Tot: ' .. xlua.formatTime(now - bar.start)
      or 'ETA: ' .. xlua.formatTime(math.max(0, (goal - current) * mean)))
      .. ' | Step: ' .. xlua.formatTime(step)
   if columns > 0 then
      io.write('\r', lineOf(room(columns), current, goal, time), current >= goal and '\n' or '')
   elseif tenth > bar.tenth then
      io.write((' %d %% %s/%s %s\n'):format(10 * tenth, current, goal, time))
   end
   bar.index, bar.time, bar.tenth = current, now, tenth
   if current >= goal then bar = nil end
   io.flush()
end

--- Prints a table's fields, one per line; prints other values as print does.
-- @function xlua.print
-- @as xlua
-- @param value any: the value to print
-- @param ...? any: more values
-- @return nothing
-- @usage local p, out = print, {}
--    print = function(s) out[#out + 1] = s end
--    xlua.print{a = 1}
--    print = p
--    return out --> {[a] = 1}
function xlua.print(value, ...)
   if type(value) == 'table' and tostring(value):find('^table: ') then
      for key, field in pairs(value) do
         print(('[%s] = %s'):format(tostring(key), tostring(field)))
      end
   else
      print(value)
   end
   if select('#', ...) > 0 then xlua.print(...) end
end

--- Raises an error with a red message.
-- @function xlua.error
-- @as xlua
-- @param message string: the message
-- @param domain? string: added before it, in < >
-- @param usage? string: added after it
-- @return nothing
-- @usage select(2, pcall(xlua.error, 'no', 'here')):match '<.->.%w+' --> <here> no
function xlua.error(message, domain, usage)
   message = domain and '<' .. domain .. '> ' .. message or tostring(message)
   error(sys.COLORS.Red .. message .. sys.COLORS.none .. (usage and '\n' .. usage or ''), 2)
end

--- Returns true if require would find a package.
-- @function xlua.installed
-- @as xlua
-- @param package string: its name
-- @return a boolean; the path of its file, if it has one
-- @usage xlua.installed 'nosuchpackage' --> false, nil
function xlua.installed(package_)
   expect('xlua.installed', 'package', package_, 'string')
   local path = package.searchpath(package_, package.path)
      or package.searchpath(package_, package.cpath)
   return path ~= nil or package.preload[package_] ~= nil, path
end

--- Calls require, but prints an error instead of raising it.
-- @function xlua.require
-- @as xlua
-- @param name string: a module
-- @return the module, or false
-- @usage xlua.require('nn').Tanh() --> nn.Tanh
function xlua.require(name)
   expect('xlua.require', 'name', name, 'string')
   local ok, result = pcall(require, name)
   if ok then return result end
   print(result)
   print("warning: '" .. name .. "' could not be loaded (is it installed?)")
   return false
end

--- Returns a copy of settings in which environment variables of the same names replace the values.
-- @function xlua.envparams
-- @as xlua
-- @param defaults table: name -> number, string or boolean
-- @return a table with the same names
-- @usage torch.setenv('REFERENCE_N', '7')
--    return xlua.envparams{REFERENCE_N = 1, REFERENCE_M = 2}
--    --> {REFERENCE_M=2 REFERENCE_N=7}
function xlua.envparams(defaults)
   expect('xlua.envparams', 'defaults', defaults, 'table')
   local params = {}
   for name, value in pairs(defaults) do
      local text = os.getenv(name)
      if text and type(value) == 'number' then
         value = tonumber(text)
         if not value then
            dptffi.fail("xlua.envparams: the variable %s is '%s', wanted a number", name, text)
         end
      elseif text and type(value) == 'boolean' then
         value = text:lower() == 'true' or text == '1'
      elseif text then
         value = text
      end
      params[name] = value
   end
   return params
end

--- Calls try(); if it raises, catch(error).
-- @function xlua.trycatch
-- @as xlua
-- @param try function: called
-- @param catch function: receives the error
-- @return nothing
-- @usage local got
--    xlua.trycatch(function() error('no', 0) end, function(e) got = e end)
--    return got --> no
function xlua.trycatch(try, catch)
   expect('xlua.trycatch', 'catch', catch, 'callable')
   local ok, why = pcall(try)
   if not ok then catch(why) end
end

--- Returns true if there is a file at the path, as paths.filep does.
-- @function xlua.filep
-- @as xlua
-- @param path string: of the file
-- @return a boolean
-- @usage xlua.filep '/bin/sh', xlua.filep '/nosuchfile' --> true, false
xlua.filep = paths.filep

--- Functions that dpt.compat adds to Lua's string and table.
local strings, tables = {}, {}

--- Functions that xlua adds to Lua's string and table, by library and name.
-- @field xlua.libraries
-- @as xlua
-- @also xlua.libraries.string
-- @also xlua.libraries.table
-- @return a table
-- @usage xlua.libraries.string.split('a,b', ',') --> {a b}
xlua.libraries = {string = strings, table = tables}

--- Splits a string at the matches of a pattern, as sys.split does; a method of strings.
-- @function string.split
-- @as xlua
-- @param text string: the string to split
-- @param pattern string: a Lua pattern
-- @return a list of strings
-- @usage ('a-b'):split '-' --> {a b}
strings.split = sys.split

--- Evaluates an expression such as 'nn.Linear'.
-- @function string.tosymbol
-- @as xlua
-- @param text string: the expression
-- @return its value
-- @raise if there is no such value
-- @usage ('math.pi'):tosymbol() --> 3.142
function strings.tosymbol(text)
   local ok, value = pcall(assert(loadstring('return ' .. text)))
   if not ok then error(value, 2) end
   return value or error("symbol '" .. text .. "' does not exist", 2)
end

--- Splits a list in two: the list without a range of elements, and that range.
-- @function table.splice
-- @as xlua
-- @param list table: a list, which is not modified
-- @param start? number: index of the first removed element (1)
-- @param length? number: number of removed elements (1)
-- @return two lists: the remaining elements, the removed elements
-- @usage table.splice({5, 6, 7}, 2, 1) --> {5 7}, {6}
function tables.splice(list, start, length)
   start, length = start or 1, length or 1
   local rest, taken = {}, {}
   for i, element in ipairs(list) do
      table.insert((i < start or i >= start + length) and rest or taken, element)
   end
   return rest, taken
end

--- Returns a list without duplicates.
-- @function table.prune
-- @as xlua
-- @param list table: a list, which is not modified
-- @param hash? function: receives an element, returns the key that is compared (the element)
-- @param merge? function: receives a new and an old element, returns the one to keep (the new one)
-- @return a list
-- @usage table.prune{1, 2, 1} --> {1 2}
function tables.prune(list, hash, merge)
   local kept, order = {}, {}
   for _, element in ipairs(list) do
      local key = hash and hash(element) or element
      if kept[key] == nil then
         order[#order + 1] = key
         kept[key] = element
      else
         kept[key] = merge and merge(element, kept[key]) or element
      end
   end
   local result = {}
   for i, key in ipairs(order) do result[i] = kept[key] end
   return result
end

--- Tags shared by the reference entries of xlua.
-- @pattern xlua
-- @within xlua
-- @follows Torch7's package xlua
-- @raise if an argument has the wrong type

return xlua
