--- dpt.launcher.help: what `? name` and `dpt help name` print: the reference's text of a name.
--
-- Invariant: the text is that of the comments (dpt.launcher.reference), which are read once. A name
-- is found whole (torch.add, if need be in other letters), as what it stands for
-- (torch.FloatTensor.add; nn.Linear:forward, which nn.Module has) or by its last part; one that is
-- not there is answered by those that resemble it.
local options = require 'dpt.launcher.options'

local help = {}

local USAGE = [[
? NAME      the reference of a name, as in ? nn.Linear, ? torch.add, ? view (or: help NAME)
$ COMMAND   runs a command of the shell
= VALUES    prints values; so does an expression without the =
local       is kept for the next lines, too
Tab         completes names after a dot, methods after a colon, files in a string
Ctrl-C      ends what runs; once more within two seconds: ends dpt
Ctrl-D      leaves, as quit and exit do]]

-- A name as those that mean the same are written: in small letters, methods behind a dot, tensors
-- and storages of any type as one class.
local function normal(name)
   local word = name:gsub('%(.*$', ''):gsub('%s', ''):lower():gsub(':', '.'):gsub('^dpt%.', '')
   return (word:gsub('^torch%.%w-(tensor%.)', '%1'):gsub('^torch%.%w-(storage%.)', '%1'))
end

-- The classes above the one that a method's name begins with: 'nn.linear.forward' may be
-- 'nn.module.forward'.
local function above(word)
   local owner, method = word:match '^(.*)%.([^.]+)$'
   local list, class = {}, require 'dpt.class'
   for name in next, class.classes do
      if name:lower() == owner then
         local methods = getmetatable(class.torch.getmetatable(name))
         while type(methods) == 'table' and methods.__typename do
            list[#list + 1] = methods.__typename:lower() .. '.' .. method
            methods = getmetatable(methods)
         end
      end
   end
   return list
end

-- How many letters must be put in, taken away or changed to make one word of another.
local function distance(a, b)
   local row = {}
   for j = 0, #b do row[j] = j end
   for i = 1, #a do
      local corner = row[0]
      row[0] = i
      for j = 1, #b do
         local change = corner + (a:byte(i) == b:byte(j) and 0 or 1)
         corner = row[j]
         row[j] = math.min(change, row[j] + 1, row[j - 1] + 1)
      end
   end
   return row[#b]
end

-- Names that have the word in them; if there are none, those that are nearest to it.
local function alike(word, all)
   local list, near = {}, {}
   local last = word:match '[^.]*$'
   for known, name in pairs(all) do
      if known:find(word, 1, true) then list[#list + 1] = name end
      local apart = math.min(distance(word, known), distance(last, (known:match '[^.]*$'))
         + (known:match '^(.*)%.' == word:match '^(.*)%.' and 0 or 1))
      if apart <= math.max(1, math.floor(#last / 4)) then near[#near + 1] = name end
   end
   if #list == 0 then list = near end
   table.sort(list)
   return list
end

-- Adds an entry to the list of a key, once.
local function put(lists, key, entry)
   lists[key] = lists[key] or {}
   if lists[key][#lists[key]] ~= entry then table.insert(lists[key], entry) end
end

-- By the names in their normal form: how they are written, their entries (of a name as it is
-- written: that one alone), the entries that end in a word; methods alone also behind a colon.
local function index()
   local all, byName, byLast = {}, {}, {}
   for _, entry in ipairs((require('dpt.launcher.reference').entries())) do
      for _, known in ipairs(require('dpt.launcher.reference').names(entry)) do
         local key = normal(known)
         local last = key:match '[^.]*$'
         all[key] = known
         put(byName, key, entry)
         byName['=' .. known] = {entry}
         put(byLast, last, entry)
         if known:find ':' then put(byLast, ':' .. last, entry) end
      end
   end
   return all, byName, byLast
end

local all, byName, byLast

--- The text about a name, and whether there is one. @param name '' is the prompt's own help
function help.text(name)
   if name == '' then return USAGE, true end
   if not all then all, byName, byLast = index() end
   local word, texts = normal(name), {}
   local found = byName['=' .. name] or byName[word]
   if not found and word:find '.%.' then
      for _, known in ipairs(above(word)) do found = found or byName[known] end
   end
   -- x:add is a method of whatever x is
   if not found and (name:find ':' or not word:find '%.') then
      found = byLast[(name:find ':' and ':' or '') .. word:match '[^.]*$']
   end
   for i, entry in ipairs(found or {}) do
      texts[i] = require('dpt.launcher.reference').text(entry)
   end
   if #texts > 0 then return table.concat(texts, '\n\n'), true end
   local list = alike(word, all)
   if #list > 0 then
      return ("there is no '%s'; there are %s"):format(name, table.concat(list, ', ')), false
   end
   return ("the reference has no '%s'"):format(name), false
end

--- For the shell script `dpt`. @return the exit status
function help.main(words)
   local usage = 'usage: dpt help NAME\n'
   local given, asked = options.command('dpt help', usage, words, {}, true)
   if not given then return asked end
   if #asked ~= 1 then return options.wrong('dpt help', usage, 'wants one name') end
   local text, found = help.text(asked[1])
   print(text)
   return found and 0 or 1
end

return help
