--- dpt.launcher.complete: what the word before the cursor may become.
--
-- Invariant: nothing is called and no class is loaded but those of names that the line spells out:
-- fields are read along them, up to the last one. Behind `:` only functions are names, in a string
-- only files.
local class = require 'dpt.class'
local type = require('dpt.ffi').type

local complete = {}

--- What ends a word: all but what names, their paths and the names of files are made of.
complete.BREAKS = ' \t\n"\'`@$><=;|&{}()[]+*/%^#~,?-'

local KEYWORDS = [[and break do else elseif end false for function goto if in local nil not or
   repeat return then true until while]]

--- What all words of a list begin with.
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

-- Adds the names that a value answers to: its own, then those of what its metatables lead to; of a
-- package also the classes that are declared, but no field before their first use.
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

-- The folder and beginning of a file's name that stands open in a string of the line.
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

-- What `? ` and `$ ` are not followed by is Lua.
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

--- What the word before the cursor may become.
-- @param before the line up to where the word begins
-- @param text the word
-- @return a sorted list of whole words; what is put behind a word that is the only one, or nil
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
