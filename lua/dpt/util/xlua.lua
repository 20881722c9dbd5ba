--- xlua: Torch7's progress bar and small helpers; the other files of this folder bring the rest.
--
-- Invariant: nothing here changes Lua's own libraries; dpt.compat does.
local dptffi = require 'dpt.ffi'
local paths = require 'dpt.util.paths'
local sys = require 'dpt.util.sys'
local want = require 'dpt.class.want'
local C, type = dptffi.C, dptffi.type

local xlua = {
   OptionParser = require 'dpt.util.optionparser',
   Profiler = require 'dpt.util.profiler',
}
for _, part in ipairs{require 'dpt.util.usage', require 'dpt.util.session'} do
   for name, f in pairs(part) do xlua[name] = f end
end
xlua.begin, xlua.set = nil, nil -- dpt.compat's

--- A text of the two largest parts of a time, e.g. '1h2m', '3s140ms', '0ms'.
function xlua.formatTime(seconds)
   want('xlua.formatTime', 'seconds', seconds, 'number')
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

local width = 77 -- of the bar
local bar -- of the loop that runs now: start, and time and index of the last step

-- The bar, drawn over itself on a terminal.
local function draw(current, goal, time)
   local done = math.floor(current * width / goal)
   local line = ('='):rep(done - 1) .. (done > 0 and '>' or '') .. ('.'):rep(width - done)
   local label = (' %s/%s '):format(current, goal)
   local middle = math.floor((width - #label) / 2)
   line = line:sub(1, middle) .. label .. line:sub(middle + #label + 1)
   -- blanks wipe out what a longer line left behind
   io.write('\r [', line, '] ', time, '        ', current >= goal and '\n' or '')
end

--- The progress of a loop on stdout: share done, time left, time of the last step. On a terminal it
-- is a bar, drawn over itself; elsewhere, as in a log, a line for each tenth.
-- @param current how many steps are done, from 1; going back begins a new loop
-- @param goal how many there are
function xlua.progress(current, goal)
   local now, terminal = C.dpt_clock(), C.dpt_terminal(1) ~= 0
   local tenth = math.floor(current * 10 / goal)
   if not bar or current <= bar.index then
      bar = {index = current, time = now, start = now, first = current, tenth = 0}
   end
   local step = current > bar.index and (now - bar.time) / (current - bar.index) or 0
   local mean = current > bar.first and (now - bar.start) / (current - bar.first) or step
   local time = (current >= goal and 'Tot: ' .. xlua.formatTime(now - bar.start)
      or 'ETA: ' .. xlua.formatTime(math.max(0, (goal - current) * mean)))
      .. ' | Step: ' .. xlua.formatTime(step)
   if terminal then
      draw(current, goal, time)
   elseif tenth > bar.tenth then
      io.write((' %d %% %s/%s %s\n'):format(10 * tenth, current, goal, time))
   end
   bar.index, bar.time, bar.tenth = current, now, tenth
   if current >= goal then bar = nil end
   io.flush()
end

--- Prints a table's fields, a line each; anything else as print does.
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

--- Raises a message in red. @param domain is put before it in < > @param usage is put after it
function xlua.error(message, domain, usage)
   message = domain and '<' .. domain .. '> ' .. message or tostring(message)
   error(sys.COLORS.Red .. message .. sys.COLORS.none .. (usage and '\n' .. usage or ''), 2)
end

--- Whether require would find a package. @return found, path
function xlua.installed(package_)
   want('xlua.installed', 'package', package_, 'string')
   local path = package.searchpath(package_, package.path)
      or package.searchpath(package_, package.cpath)
   return path ~= nil or package.preload[package_] ~= nil, path
end

--- require that prints a message instead of raising. @return the package, or false
function xlua.require(name)
   want('xlua.require', 'name', name, 'string')
   local ok, result = pcall(require, name)
   if ok then return result end
   print(result)
   print("warning: '" .. name .. "' could not be loaded (is it installed?)")
   return false
end

--- A table of settings, each replaced by the environment variable of its name if there is one.
function xlua.envparams(defaults)
   want('xlua.envparams', 'defaults', defaults, 'table')
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
function xlua.trycatch(try, catch)
   want('xlua.trycatch', 'catch', catch, 'callable')
   local ok, why = pcall(try)
   if not ok then catch(why) end
end

--- Whether a file is there.
xlua.filep = paths.filep

--- What xlua adds to Lua's string and table, by dpt.compat.
local strings, tables = {}, {}
xlua.libraries = {string = strings, table = tables}

--- The parts of a text between the matches of a pattern; an empty first one is left out.
strings.split = sys.split

--- The value of an expression such as 'nn.Linear'.
function strings.tosymbol(text)
   local ok, value = pcall(assert(loadstring('return ' .. text)))
   if not ok then error(value, 2) end
   return value or error("symbol '" .. text .. "' does not exist", 2)
end

--- Two lists: the elements that are not among the `length` (1) from `start` (1), and the others.
function tables.splice(list, start, length)
   start, length = start or 1, length or 1
   local rest, taken = {}, {}
   for i, element in ipairs(list) do
      table.insert((i < start or i >= start + length) and rest or taken, element)
   end
   return rest, taken
end

--- A list without the elements that have the same hash(element) (the element itself) as another.
-- @param merge merge(new, old): what becomes of two; default: the later one stays
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

return xlua
