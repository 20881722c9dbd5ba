--- dpt.launcher.complete: completes the word before the cursor.
--
-- Invariant: nothing is called, and only classes that the line names are loaded: fields are read
-- along the names of the line, up to the last one. After `:` only functions are candidates, in a
-- string only files.
local class = require 'dpt.class'
local type = require('dpt.ffi').type

local complete = {}

--- Characters that end a word: all except those of names, their paths and file names.
complete.BREAKS = ' \t\n"\'`@$><=;|&{}()[]+*/%^#~,?-'

local KEYWORDS = [[and break do else elseif end false for function goto if in local nil not or
   repeat return then true until while]]

--- Returns the longest common prefix of the words of a list.
function complete.common(list)
   local common = list[1]
   for _, word in ipairs(list) do
      while word:sub(1, #common) ~= common do common = common:sub(1, -2) end
   end
   return common
end

local function field(value, name)
   local ok, found = pcall(function() return value[name] end)
   if ok then return found end
end

-- Adds a value's names: its own, then those of its chain of __index tables; for a package also its
-- declared classes, without reading a field, which would load the class.
local function names(value, add)
   local seen = {}
   local function visit(t)
      if type(t) ~= 'table' or seen[t] then return end
      seen[t] = true
      for name, member in next, t do
         if type(name) == 'string' then add(name, member) end
      end
      local meta = debug.getmetatable(t)
      visit(type(meta) == 'table' and rawget(meta, '__index') or nil)
   end
   visit(type(value) == 'string' and string or type(value) == 'table' and value
      or class.methodsOf(value))
   for name, package_ in pairs(class.packages) do
      for known in next, rawequal(package_, value) and class.classes or {} do
         local rest = known:match('^' .. name .. '%.(%w+)$')
         if rest then add(rest) end
      end
   end
end

-- Returns the folder and the beginning of a file name in an open string of the line.
local function openString(line)
   local quote, from = nil, nil
   local i = 1
   while i <= #line do
      local letter = line:sub(i, i)
      if quote and letter == '\\' then
         i = i + 1
      elseif letter == quote then
         quote = nil
      elseif not quote and (letter == '"' or letter == "'") then
         quote, from = letter, i + 1
      end
      i = i + 1
   end
   return quote and line:sub(from)
end

-- Returns the files of a folder whose names have a prefix.
local function files(start, text)
   local folder, list = start:match '^(.*/)' or './', {}
   local home = os.getenv 'HOME'
   if home then folder = folder:gsub('^~/', home .. '/') end
   local pipe = io.popen(("ls -1Ap -- '%s' 2>/dev/null"):format(folder:gsub("'", "'\\''")))
   for name in pipe:lines() do
      if name:sub(1, #text) == text and (text ~= '' or name:sub(1, 1) ~= '.') then
         list[#list + 1] = name
      end
   end
   pipe:close()
   return list
end

--- Returns the completions of the word before the cursor.
-- @param before the line before the word
-- @param text the word so far
-- @return a sorted list of whole words; the text to append to a single candidate, or nil
function complete.candidates(before, text)
   local open = before:find '^%s*%$' and (before .. text):match '(%S*)$' or openString(before)
   if open then return files(before:find '^%s*%$' and open or open .. text, text) end
   local path, mark, start = text:match '^(.-)([.:]?)([%w_]*)$'
   local list, has = {}, {}
   local function add(name, member)
      if name:sub(1, #start) == start and not has[name] and name:find '^[%a_][%w_]*$'
         and (mark ~= ':' or type(member) == 'function')
         and (start:sub(1, 1) == '_' or name:sub(1, 1) ~= '_') then
         has[name] = true
         list[#list + 1] = path .. mark .. name
      end
   end
   if mark == '' then
      if path ~= '' then return {} end
      names(_G, add)
      for word in KEYWORDS:gmatch '%a+' do add(word) end
   else
      local value = _G
      for name in path:gmatch '[^.:]+' do
         if value ~= nil then value = field(value, name) end
      end
      if value == nil or path == '' then return {} end
      names(value, add)
   end
   table.sort(list)
   return list
end

return complete
