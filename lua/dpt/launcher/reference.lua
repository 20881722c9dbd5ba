--- dpt.launcher.reference: reads the reference from the comments of dpt's own Lua files.
--
-- Invariant: a comment is an entry if it has @function NAME (or @field NAME, for values that are
-- not called), and a pattern of entries if it has @pattern NAME. The tags are LDoc's: @param,
-- @return, @raise, @usage, @within (the chapter); and @as PATTERN (the entry also has the pattern's
-- tags), @also NAME (another name of the entry), @follows (the origin of its semantics). This file
-- is not loaded with dpt.
local reference = {}

-- The folder that contains dpt's and image's folders.
local root = debug.getinfo(1, 'S').source:match '^@(.*)dpt/launcher/reference%.lua$'

local REPEATED = {param = true, ['return'] = true, raise = true, usage = true, also = true}
local SINGLE = {['function'] = true, field = true, pattern = true, within = true, as = true,
   follows = true}

-- Parses the tags of one comment: {summary, param = {...}, ...}.
local function parse(block)
   local entry, current = {param = {}, ['return'] = {}, raise = {}, usage = {}, also = {}}, nil
   local text = {}
   local function close()
      local value = table.concat(text, current == 'usage' and '\n' or ' ') -- keeps lines of Lua
      if not current then entry.summary = value
      elseif REPEATED[current] then table.insert(entry[current], value)
      elseif SINGLE[current] then entry[current] = value
      else entry.unknown = current end
      text = {}
   end
   for line in block:gmatch '[^\n]+' do
      line = line:gsub('^%s*%-%-%-?%s?', '')
      local tag, rest = line:match '^@(%a+)%s*(.*)$'
      if tag then
         close()
         current, line = tag, rest
      end
      text[#text + 1] = current == 'usage' and line:gsub('^%s%s?%s?', '') or line:match '^%s*(.*)$'
   end
   close()
   entry['function'] = entry['function'] or entry.field
   return entry
end

-- Reads the comments of a file: each begins with a line --- and ends before code or the next one.
local function read(path, entries, patterns)
   local block, first, number = nil, nil, 0
   local function close()
      if block and (block:find '%-%- @function%s' or block:find '%-%- @field%s'
         or block:find '%-%- @pattern%s') then
         local entry = parse(block)
         entry.file, entry.line = path:sub(#root + 1), first
         if entry.pattern then patterns[entry.pattern] = entry
         else entries[#entries + 1] = entry end
      end
      block = nil
   end
   for line in io.lines(path) do
      number = number + 1
      if line:find '^%s*%-%-%-' then
         close()
         block, first = line, number
      elseif block and line:find '^%s*%-%-' then
         block = block .. '\n' .. line
      else
         close()
      end
   end
   close()
end

-- Removes the call and the invariant in the header of a class from its summary.
local function tidy(entry)
   local call, text = entry.summary:match '^[%w.:]+(%b())[^:%w]*:?%s+(.*)$'
   if not call then text = entry.summary:match '^[%w.]+: (.*)$' end
   text = (text or entry.summary):gsub('%s*Invariant: .*$', ''):gsub('%s+$', '')
   entry.header, entry.summary = call, text
end

-- Sets the parameters of a class of nn or cudnn: from the signature that calls are checked by,
-- with the texts of the class itself or of the dictionary in signatures.lua.
local function ofClass(entry, dictionary)
   local signature = require('dpt.nn.signatures').of(entry['function'])
   local own, list = {}, {}
   for _, text in ipairs(entry.param) do own[text:match '^[%w_]+'] = text:match '^%S+%s+(.*)$' end
   local function add(name, kind, optional)
      local text = own[name] or dictionary[name] or ''
      list[#list + 1] = ('%s%s %s%s'):format(name, optional and '?' or '', kind, text ~= ''
         and (kind ~= '' and ': ' or '') .. text or '')
   end
   if signature then
      for _, p in ipairs(signature.parameters) do
         add(p.name, p.kind == 'any' and '' or p.kind:gsub('|', ' or '), p.optional)
      end
   else
      local header = (entry.header or ''):gsub('[%[%]{}]', '')
      for name in header:gmatch '[%w_]+' do add(name, '', true) end
   end
   entry.param = list
end

-- Adds the tags of an entry's pattern before the entry's own.
local function complete(entry, patterns)
   tidy(entry)
   if entry['function']:find '^c?u?d?nn%.%u%w*$' then
      local dictionary = {}
      for _, text in ipairs(patterns.parameters and patterns.parameters.param or {}) do
         dictionary[text:match '^%S+'] = text:match '^%S+%s+(.*)$'
      end
      ofClass(entry, dictionary)
   end
   local pattern = entry.as and patterns[entry.as]
   if not pattern then return end
   for tag in pairs(REPEATED) do
      local list = {}
      for _, text in ipairs(pattern[tag]) do list[#list + 1] = text end
      for _, text in ipairs(entry[tag]) do list[#list + 1] = text end
      entry[tag] = list
   end
   entry.follows = entry.follows or pattern.follows
   entry.within = entry.within or pattern.within
end

--- Returns all entries, in the order of files and lines, and the patterns by name.
-- @return a list of {['function'] = name, summary, param = list, ['return'], raise, usage, also,
-- within, follows, as, file, line}; patterns
function reference.entries()
   local entries, patterns, files = {}, {}, {}
   local function quoted(name) return "'" .. (root .. name):gsub("'", "'\\''") .. "'" end
   local pipe = io.popen('grep -rlE --include="*.lua" -e "-- @(function|field|pattern) " '
      .. quoted 'dpt' .. ' ' .. quoted 'image' .. ' 2>/dev/null')
   for path in pipe:lines() do files[#files + 1] = path end
   pipe:close()
   table.sort(files)
   for _, path in ipairs(files) do
      if not path:find 'launcher/reference%.lua$' then read(path, entries, patterns) end
   end
   for _, entry in ipairs(entries) do complete(entry, patterns) end
   return entries, patterns
end

--- Returns an entry's call, such as nn.Linear(inputSize, outputSize[, bias]).
function reference.call(entry)
   if entry.field then return entry.field end
   local words = {}
   for _, param in ipairs(entry.param) do
      local name, optional = param:match '^([%w_.]+)(%??)'
      if not name:find '%.' or name == '...' then
         words[#words + 1] = optional == '?' and '[' .. name .. ']' or name
      end
   end
   return entry['function'] .. '(' .. table.concat(words, ', ') .. ')'
end

--- Returns the names of an entry: its own, then its aliases.
function reference.names(entry)
   local list = {entry['function']}
   for _, name in ipairs(entry.also) do list[#list + 1] = name:match '^[%w_.:]+' end
   return list
end

--- Returns the public names that have no entry.
-- @param known a table whose keys are the names that have an entry
-- @param others packages other than dpt's, by their names
function reference.missing(known, others)
   local missing = {}
   for _, name in ipairs(require('dpt.launcher.names').all(others)) do
      if not known[name] then missing[#missing + 1] = name end
   end
   return missing
end

--- Wraps a text into lines of at most `width` columns, each after an indent.
function reference.wrap(text, indent, width)
   local lines, line = {}, ''
   for word in text:gmatch '%S+' do
      if #line + #word + 1 > width and line ~= '' then
         lines[#lines + 1] = line
         line = ''
      end
      line = line == '' and word or line .. ' ' .. word
   end
   lines[#lines + 1] = line
   return indent .. table.concat(lines, '\n' .. indent)
end

--- Returns the text that `? name` prints for an entry.
function reference.text(entry)
   local lines = {reference.call(entry)}
   local function put(text, indent)
      lines[#lines + 1] = reference.wrap(text, indent, 78 - #indent)
   end
   if #entry.also > 0 then put('also ' .. table.concat(entry.also, ', '), '') end
   put(entry.summary, '  ')
   for _, text in ipairs(entry.param) do put(text, '    ') end
   local function add(word, text) put(word .. ' ' .. text, '  ') end
   for _, text in ipairs(entry['return']) do add(entry.field and 'is' or 'returns', text) end
   for _, text in ipairs(entry.field and {} or entry.raise) do add('raises', text) end
   if entry.follows then add('follows', entry.follows) end
   for _, text in ipairs(entry.usage) do
      lines[#lines + 1] = '  e.g. ' .. text:gsub('\n', '\n       ')
   end
   return table.concat(lines, '\n')
end

return reference
