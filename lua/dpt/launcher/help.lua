--- dpt.launcher.help: `? words` and `dpt help words`: prints the reference entry of a name, the
-- names of a topic, or the entries that mention the words.
--
-- Invariant: the text is that of the comments (dpt.launcher.reference), which are read once. A name
-- matches in full (torch.add, ignoring case if necessary), as an alias (torch.FloatTensor.add;
-- nn.Linear:forward, which nn.Module has), by its last part, or as PyTorch's name; for an unknown
-- name, similar ones are suggested.
local options = require 'dpt.launcher.options'
local reference = require 'dpt.launcher.reference'
local topics = require 'dpt.launcher.topics'

local help = {}

local USAGE = [[
? NAME      prints the reference of a name: ? nn.Linear, ? torch.add, ? view (or: help NAME)
? WORDS     lists a topic (? nn convolution), or the entries that mention the words
$ COMMAND   runs a shell command
= VALUES    prints values; so does an expression without the =
local       variables remain visible in later lines
Tab         completes names after a dot, methods after a colon, files in a string
Ctrl-C      interrupts the running code; twice within two seconds: exits dpt
Ctrl-D      exits, as quit and exit do]]

-- PyTorch's packages.
local PACKAGES = {nn = 'nn.', optim = 'optim.', cuda = 'cutorch.', distributed = 'distributed.'}

-- Normalizes a name, so that equivalent names are equal: lower case, methods after a dot, tensors
-- and storages of any type as one class.
local function normalize(name)
   local word = name:gsub('%(.*$', ''):gsub('%s', ''):lower():gsub(':', '.'):gsub('^dpt%.', '')
      :gsub('^torch%.(%a+)%.', PACKAGES)
   return (word:gsub('^torch%.%w-(tensor%.)', '%1'):gsub('^torch%.%w-(storage%.)', '%1'))
end

-- Returns a method's names in the ancestors of its class: 'nn.linear.forward' may be
-- 'nn.module.forward'.
local function inheritedNames(word)
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

-- Returns the edit distance of two words: the smallest number of insertions, deletions,
-- replacements and swaps of adjacent letters that turn one into the other.
local function distance(a, b)
   local before, row = {}, {}
   for j = 0, #b do row[j] = j end
   for i = 1, #a do
      local last = row
      row = {[0] = i}
      for j = 1, #b do
         local same = a:byte(i) == b:byte(j)
         row[j] = math.min(last[j - 1] + (same and 0 or 1), last[j] + 1, row[j - 1] + 1)
         if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
            row[j] = math.min(row[j], before[j - 2] + 1)
         end
      end
      before = last
   end
   return row[#b]
end

-- Returns the names within a small edit distance, nearest first: those within one letter of the
-- nearest, with case. A name with an owner is nearer to names of the same owner.
local function findSimilar(name, all)
   local word, list, distances = normalize(name), {}, {}
   local last, owner = word:match '[^.]*$', word:match '^(.*)%.'
   for known, other in pairs(all) do
      local letters = math.min(distance(word, known), distance(last, (known:match '[^.]*$'))
         + ((not owner or known:match '^(.*)%.' == owner) and 0 or 1))
      if letters <= math.max(1, math.floor(#last / 4)) then
         list[#list + 1] = other
         distances[other] = distance(name:match '[^.:]*$', (other:match '[^.:]*$'))
      end
   end
   table.sort(list, function(a, b)
      if distances[a] ~= distances[b] then return distances[a] < distances[b] end
      return a < b
   end)
   for i = #list, 1, -1 do
      if distances[list[i]] > distances[list[1]] + 1 then list[i] = nil end
   end
   return list
end

-- Adds an entry to the list of a key, once.
local function addEntry(lists, key, entry)
   lists[key] = lists[key] or {}
   if lists[key][#lists[key]] ~= entry then table.insert(lists[key], entry) end
end

-- Inserts spaces between the parts of names in a string, as in spatial Max Pooling.
local function splitName(text)
   return (text:gsub('(%l)(%u)', '%1 %2'):gsub('(%u)(%u%l)', '%1 %2'))
end

-- Returns an entry's index for searches: each part of its names together with the parts after it,
-- so that maxpool matches nn.SpatialMaxPooling and elu does not match nn.ReLU; the words of its
-- text.
local function document(entry, others)
   local names = {}
   for _, name in ipairs(reference.names(entry)) do
      local parts = {}
      for part in splitName(name):gmatch '%w+' do parts[#parts + 1] = part:lower() end
      for i = 1, #parts do names[#names + 1] = '\n' .. table.concat(parts, '', i) end
   end
   for _, name in ipairs(others) do names[#names + 1] = '\n' .. name end
   local text = ('%s %s %s'):format(entry.summary, table.concat(entry.param, ' '),
      table.concat(entry['return'], ' '))
   return {names = table.concat(names), entry = entry,
      text = (' %s %s'):format(text, splitName(text)):lower():gsub('%W+', ' ')}
end

local book

-- Builds the index by normalized name: the original names (all), their entries (byName; with a '='
-- before the exact name, only that entry), the entries that end in a word (byLast; methods also
-- after a colon), and the documents of a search.
local function open()
   if book then return book end
   book = {all = {}, byName = {}, byLast = {}, documents = {}}
   local others = {}
   for other, name in pairs(topics.elsewhere) do
      others[name] = others[name] or {}
      table.insert(others[name], other)
   end
   for i, entry in ipairs((reference.entries())) do
      for _, known in ipairs(reference.names(entry)) do
         local key = normalize(known)
         local last = key:match '[^.]*$'
         book.all[key] = known
         addEntry(book.byName, key, entry)
         book.byName['=' .. known] = {entry}
         addEntry(book.byLast, last, entry)
         if known:find ':' then addEntry(book.byLast, ':' .. last, entry) end
      end
      book.documents[i] = document(entry, others[entry['function']] or {})
   end
   return book
end

-- Returns the entries of a full name; nil if there are none.
local function named(name)
   local byName, word = open().byName, normalize(name)
   local found = byName['=' .. name] or byName[word]
   if not found and word:find '.%.' then
      for _, known in ipairs(inheritedNames(word)) do found = found or byName[known] end
   end
   return found
end

--- Returns true if the reference has this full name.
function help.has(name) return named(name) ~= nil end

-- Returns the entries whose names have this last part; x:add matches methods of any class.
local function ending(name)
   local word = normalize(name)
   if not name:find ':' and word:find '%.' then return nil end
   return open().byLast[(name:find ':' and ':' or '') .. word:match '[^.]*$']
end

local function textsOf(entries)
   local texts = {}
   for i, entry in ipairs(entries) do texts[i] = reference.text(entry) end
   return table.concat(texts, '\n\n')
end

-- Returns the names of a chapter; for a package, those without methods and fields.
local function topic(name)
   local lines, word = {}, name:lower()
   for _, chapter in ipairs(topics.chapters) do
      local whole, list = word == chapter[1], {}
      for _, page in ipairs((whole or word == chapter[2]) and open().documents or {}) do
         local known = page.entry['function']
         if page.entry.within == chapter[1] and (whole or known:find '^%w+%.%w+$') then
            list[#list + 1] = known
         end
      end
      if #list > 0 then
         table.sort(list)
         lines[#lines + 1] = chapter[1] .. ': ' .. chapter[3]
         lines[#lines + 1] = reference.wrap(table.concat(list, ' '), '  ', 76)
      end
   end
   return #lines > 0 and table.concat(lines, '\n') or nil
end

-- Returns dpt's counterpart of a PyTorch name, or a sentence if there is none; nil for unknown
-- names.
local function elsewhere(name)
   return topics.elsewhere[normalize(name):gsub('^.*%.', ''):gsub('[^%w]', '')]
end

local function translated(name)
   local text = elsewhere(name)
   local entries = text and open().byName['=' .. text]
   return entries and ("PyTorch's %s is %s here:\n\n%s"):format(name, text, textsOf(entries))
      or text
end

local SHOWN = 12 -- results of a search

-- Returns the entries that contain the most words, those with words in their names first; nil if
-- they contain less than half of the words.
local function search(name)
   local words, found, most = {}, {}, 1
   for word in name:lower():gmatch '%w+' do words[#words + 1] = word end
   for _, page in ipairs(open().documents) do
      local count, inNames = 0, 0
      for _, word in ipairs(words) do
         local isName = page.names:find('\n' .. word, 1, true)
         if isName or page.text:find(' ' .. word, 1, true) then count = count + 1 end
         if isName then inNames = inNames + 1 end
      end
      if count > most then most, found = count, {} end
      if count == most then
         local name_ = page.entry['function']
         found[#found + 1] = {name = name_, text = page.entry.summary,
            rank = 2 * inNames - (name_:find ':' and 1 or 0)}
      end
   end
   if #found == 0 or 2 * most < #words then return nil end
   table.sort(found, function(a, b)
      if a.rank ~= b.rank then return a.rank > b.rank end
      return a.name < b.name
   end)
   local lines = {("No entry '%s'. %s:"):format(name, most < #words and 'Some of its words are in'
      or #words > 1 and 'Its words are in' or 'It is mentioned in')}
   for i = 1, math.min(#found, SHOWN) do
      local line = ('  %-28s  %s'):format(found[i].name, found[i].text)
      lines[#lines + 1] = #line > 78 and line:sub(1, 75) .. '...' or line
   end
   if #found > SHOWN then lines[#lines + 1] = ('  and %d more'):format(#found - SHOWN) end
   return table.concat(lines, '\n')
end

-- Returns the question that follows an unknown name; '' if no name is similar.
local function question(list)
   if #list == 0 then return '' end
   local last = table.remove(list)
   return (' Did you mean %s%s?'):format(
      #list > 0 and table.concat(list, ', ') .. ' or ' or '', last)
end

--- Returns the help for a name or words, and true if there is any.
-- @param name '' returns the prompt's own help
function help.text(name)
   if name == '' then return USAGE, true end
   local entries = named(name)
   local text = not entries and topic(name)
   if text then return text, true end
   entries = entries or ending(name)
   text = entries and textsOf(entries) or translated(name) or not name:find '[.:]' and search(name)
   if text then return text, true end
   local near = question(findSimilar(name, open().all))
   if near == '' then near = ' dpt help lists the topics.' end
   return ("No entry '%s'.%s"):format(name, near), false
end

local function contents()
   local lines = {'dpt help TOPIC  lists the names of a topic: nn, or one of those below',
      'dpt help NAME   prints the reference of a name, as in dpt help nn.Linear',
      'dpt help WORDS  lists the entries that mention the words, as in dpt help learning rate', ''}
   for _, chapter in ipairs(topics.chapters) do
      lines[#lines + 1] = ('%-17s %s'):format(chapter[1], chapter[3])
   end
   return table.concat(lines, '\n')
end

--- Entry point of the shell script `dpt`. @return the exit status
function help.main(words)
   local usage = 'usage: dpt help [NAME | TOPIC | WORDS]\n'
   local given, asked = options.command('dpt help', usage, words, {})
   if not given then return asked end
   local text, found = contents(), true
   if #asked > 0 then text, found = help.text(table.concat(asked, ' ')) end
   print(text)
   return found and 0 or 1
end

-- Returns a line of a file; '' if it cannot be read.
local function lineOf(path, number)
   local file = io.open(path)
   if not file then return '' end
   local found
   for _ = 1, number do found = file:read() end
   file:close()
   return found or ''
end

-- Returns the names that a nil name may have meant: a method, or a field of a table that the source
-- calls by the name of a dpt package.
local function meant(kind, name, source)
   local wanted = ':'
   if kind ~= 'method' then
      local owner = source:match('([%w_]+)%s*%.%s*' .. name .. '%f[^%w_]')
      if not owner then return {} end
      name, wanted = owner .. '.' .. name, '^' .. owner .. '%.'
   end
   local other, list = elsewhere(name), {}
   if other and open().byName['=' .. other] and other:find(wanted) then return {other} end
   for _, near in ipairs(findSimilar(name, open().all)) do
      if near:find(wanted) then list[#list + 1] = near end
   end
   return list
end

local function explained(message, typed)
   local before, kind, name, after = message:match(
      "^(.-attempt to %a+ (%a+) '([%w_]+)' %(a nil value%))(.*)$")
   if not before then return message end
   local path, line = before:match '([^\n:]+):(%d+): attempt to '
   local list = meant(kind, name, typed or path and lineOf(path, tonumber(line)) or '')
   return before .. question(list):gsub('^ D', '; d') .. after
end

--- Returns an error's message; for a misspelt or a PyTorch field or method, adds a question.
-- @param typed source of the error; nil: the line of the file that the message names
function help.explain(message, typed)
   local ok, text = pcall(explained, message, typed)
   return ok and text or message
end

return help
