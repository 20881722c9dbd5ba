--- dpt.launcher.reference: the reference, read from the comments of dpt's own Lua files.
--
-- Invariant: a comment is an entry if it has @function NAME, and a pattern of entries if it has
-- @pattern NAME. The tags are LDoc's: @param, @return, @raise, @usage, @within (the chapter); and
-- @as PATTERN (the entry has the pattern's tags, too), @also NAME (the same by another name),
-- @follows (what its meaning comes from). Nothing of it is loaded with dpt.
local reference = {}

local folder = debug.getinfo(1, 'S').source:match '^@(.*)launcher/reference%.lua$'

local REPEATED = {param = true, ['return'] = true, raise = true, usage = true, also = true}
local SINGLE = {['function'] = true, pattern = true, within = true, as = true, follows = true}

-- One comment's tags: {summary, param = {...}, ...}.
local function parse(block)
   local entry, current = {param = {}, ['return'] = {}, raise = {}, usage = {}, also = {}}, nil
   local text = {}
   local function close()
      local value = table.concat(text, current == 'usage' and '\n' or ' ')
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
      text[#text + 1] = current == 'usage' and line or line:match '^%s*(.*)$'
   end
   close()
   return entry
end

-- The comments of a file: each begins with a line --- and ends before what is none, or the next.
local function read(path, entries, patterns)
   local block, first, number = nil, nil, 0
   local function close()
      if block and (block:find '@function%s' or block:find '@pattern%s') then
         local entry = parse(block)
         entry.file, entry.line = path:sub(#folder + 1), first
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

-- An entry has what its pattern says before what it says itself.
local function complete(entry, patterns)
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

--- All entries, in the order of files and lines, and the patterns by name.
-- @return a list of {['function'] = name, summary, param = list, ['return'], raise, usage, also,
-- within, follows, as, file, line}; patterns
function reference.entries()
   local entries, patterns, files = {}, {}, {}
   local quoted = "'" .. folder:gsub("'", "'\\''") .. "'"
   local pipe = io.popen('grep -rlE --include="*.lua" "@(function|pattern) " ' .. quoted)
   for path in pipe:lines() do files[#files + 1] = path end
   pipe:close()
   table.sort(files)
   for _, path in ipairs(files) do
      if not path:find 'launcher/reference%.lua$' then read(path, entries, patterns) end
   end
   for _, entry in ipairs(entries) do complete(entry, patterns) end
   return entries, patterns
end

--- An entry's call, as in nn.Linear(inputSize, outputSize[, bias]).
function reference.call(entry)
   local words = {}
   for _, param in ipairs(entry.param) do
      local name, optional = param:match '^([%w_.]+)(%??)'
      if not name:find '%.' or name == '...' then
         words[#words + 1] = optional == '?' and '[' .. name .. ']' or name
      end
   end
   return entry['function'] .. '(' .. table.concat(words, ', ') .. ')'
end

local function wrap(text, indent, width)
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

--- What `? name` prints of an entry.
function reference.text(entry)
   local lines = {reference.call(entry)}
   for _, name in ipairs(entry.also) do lines[#lines + 1] = 'also ' .. name end
   lines[#lines + 1] = wrap(entry.summary, '  ', 90)
   for _, text in ipairs(entry.param) do lines[#lines + 1] = wrap(text, '    ', 88) end
   local function add(word, text) lines[#lines + 1] = wrap(word .. ' ' .. text, '  ', 90) end
   for _, text in ipairs(entry['return']) do add('returns', text) end
   for _, text in ipairs(entry.raise) do add('raises', text) end
   if entry.follows then add('follows', entry.follows) end
   for _, text in ipairs(entry.usage) do
      lines[#lines + 1] = '  e.g. ' .. text:gsub('\n', '\n       ')
   end
   return table.concat(lines, '\n')
end

return reference
