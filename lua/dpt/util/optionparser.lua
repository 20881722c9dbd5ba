--- xlua.OptionParser{usage = text}: parses the options of a script from the global arg.
--
-- Invariant: an option is described by {'-x', '--name', ..., dest = its field in the result,
-- action = 'store' (the default, takes a value), 'store_true' or 'store_false', default = , req = ,
-- help = , metavar = the name of its value in the help}; an invalid command line prints the error
-- and the help, and ends the process with status 1.
local type = require('dpt.ffi').type

local Parser = {}

--- Creates a parser of the global arg. An option is described by {'-x', '--name', dest = its field
-- in the result, action = 'store', 'store_true' or 'store_false', default = , req = , help = }.
-- @function xlua.OptionParser
-- @as optionparser
-- @param usage string: the first line of the help; %prog stands for the program
-- @return an object with the methods below
-- @usage type(xlua.OptionParser('%prog [options]').parse) --> function
local function new(usage)
   local self = {usage = type(usage) == 'table' and usage.usage or usage, option_descriptions = {},
      option_of = {}}
   for name, method in pairs(Parser) do self[name] = method end
   self:option{'-h', '--help', action = 'store_true', dest = 'help',
      help = 'show this help message and exit'}
   return self
end

--- Prints a message and the help, and ends the process with status 1.
-- @function xlua.OptionParser:fail
-- @as optionparser
-- @param message string: the message
-- @return nothing
-- @usage local exit, o, status = os.exit, xlua.OptionParser ''
--    os.exit = function(s) status = s end
--    o.help = function() end
--    o:fail ''
--    os.exit = exit
--    return status --> 1
function Parser:fail(message)
   io.stderr:write(message, '\n')
   self:help()
   os.exit(1)
end

--- Adds an option.
-- @function xlua.OptionParser:option
-- @as optionparser
-- @param description table: of the option, as described above
-- @return nothing
-- @usage local o = xlua.OptionParser ''
--    o:option{'-n', '--number', dest = 'n', help = 'how many'}
--    return o:flags(o.option_of['-n']) --> -n N, --number=N
function Parser:option(description)
   table.insert(self.option_descriptions, description)
   for _, word in ipairs(description) do self.option_of[word] = description end
end

local function takesValue(description)
   return description.action == nil or description.action == 'store'
end

--- Returns the words of the command line, with --name=value split in two.
local function words()
   local list = {}
   for _, word in ipairs(arg) do
      local name, value = word:match '^(%-%-[%w_%-]+)=(.*)'
      list[#list + 1] = name or word
      list[#list + 1] = value
   end
   return list
end

--- Parses the global arg.
-- @function xlua.OptionParser:parse
-- @as optionparser
-- @param options? table: receives the values (a new one)
-- @return a table: dest -> value; a list of the remaining words
-- @usage local before, o = arg, xlua.OptionParser ''
--    o:option{'-n', dest = 'n'}
--    arg = {'-n', '5', 'word'}
--    local v, others = o:parse()
--    arg = before
--    return v.n, others --> 5, {word}
function Parser:parse(options)
   options = options or {}
   local others = {}
   for _, description in ipairs(self.option_descriptions) do
      if options[description.dest] == nil then
         options[description.dest] = description.default
      end
   end
   self.options, options.__main__ = options, arg ~= nil
   if not arg then return options, others end
   local list, i = words(), 1
   while list[i] do
      local word = list[i]
      local description = self.option_of[word]
      if description and takesValue(description) then
         i = i + 1
         local value = list[i]
         if value == nil then value = description.default end
         if value == nil then self:fail('option requires an argument ' .. word) end
         options[description.dest] = value
      elseif description then
         options[description.dest] = description.action == 'store_true'
      elseif word:find '^%-' then
         self:fail('invalid option ' .. word)
      else
         others[#others + 1] = word
      end
      i = i + 1
   end
   if options.help then
      self:help()
      os.exit(0)
   end
   for _, description in ipairs(self.option_descriptions) do
      if description.req and not options[description.dest] then
         self:fail('option ' .. description[1] .. ' requires an argument')
      end
   end
   return options, others
end

--- Returns the names of an option as the help shows them.
-- @function xlua.OptionParser:flags
-- @as optionparser
-- @param description table: of the option
-- @return a string
-- @usage xlua.OptionParser(''):flags{'-q', action = 'store_true'} --> -q
function Parser:flags(description)
   local parts = {}
   for i, word in ipairs(description) do
      local value = ''
      if takesValue(description) then
         value = (#word == 2 and ' ' or '=') .. (description.metavar or description.dest:upper())
      end
      parts[i] = word .. value
   end
   return table.concat(parts, ', ')
end

--- Prints the usage line, and a line for each option.
-- @function xlua.OptionParser:help
-- @as optionparser
-- @return nothing
-- @usage local w, out = io.write, ''
--    io.write = function(...) out = out .. table.concat{...} end
--    xlua.OptionParser('use %prog'):help()
--    io.write = w
--    return out:match '%-%-help[^\n]*' --> --help  show this help message and exit
function Parser:help()
   local words_ = arg or {}
   local program = words_[-1] and words_[-1] .. ' ' .. words_[0] or words_[0] or 'THISPROG'
   io.write('Usage: ', (tostring(self.usage):gsub('%%prog', (program:gsub('%%', '%%%%')))),
      '\n\nOptions:\n')
   local width = 0
   for _, description in ipairs(self.option_descriptions) do
      width = math.max(width, #self:flags(description))
   end
   for _, description in ipairs(self.option_descriptions) do
      local flags, more = self:flags(description), ''
      if description.req then
         more = ' [REQUIRED]'
      elseif description.default ~= nil then
         more = ' [default = ' .. tostring(description.default) .. ']'
      end
      io.write('  ', flags, (' '):rep(width - #flags), '  ', description.help or '', more, '\n')
   end
end

--- Returns the options' values as text, after parse.
-- @function xlua.OptionParser:tostring
-- @as optionparser
-- @param asFileName? boolean: true: one word, name=value,name=value
-- @param only? table: list of the options to include in a file name (all)
-- @return a string
-- @usage local before, o = arg, xlua.OptionParser ''
--    o:option{'-n', dest = 'n', default = 4}
--    arg = {}
--    o:parse()
--    arg = before
--    return o:tostring(true) --> -n=4
function Parser:tostring(asFileName, only)
   local parts = {}
   if not asFileName then
      local program = (arg and arg[0] or 'interpreted.lua'):gsub('%.lua', '')
      for name, value in pairs(self.options) do
         parts[#parts + 1] = ' + ' .. name .. ' = ' .. tostring(value) .. '\n'
      end
      return '<' .. program .. '> configuration:\n' .. table.concat(parts)
   end
   local wanted
   for _, name in ipairs(only or {}) do
      wanted = wanted or {}
      wanted[name] = true
   end
   for _, description in ipairs(self.option_descriptions) do
      local name, value = description[1], self.options[description.dest]
      if value and (not wanted or wanted[name]) then
         parts[#parts + 1] = name .. '=' .. tostring(value)
      end
   end
   return (table.concat(parts, ','):gsub('/', '|'):gsub(' ', '_'))
end

--- Prints the options' values.
-- @function xlua.OptionParser:summarize
-- @as optionparser
-- @param asFileName? boolean: true: as one word
-- @return nothing
-- @usage local before, w, out, o = arg, io.write, '', xlua.OptionParser ''
--    o:option{'-m', dest = 'm', default = 4}
--    arg = {}
--    o:parse()
--    arg = before
--    io.write = function(s) out = out .. s end
--    o:summarize(true)
--    io.write = w
--    return out --> -m=4
function Parser:summarize(asFileName) io.write(self:tostring(asFileName)) end

--- Tags shared by the reference entries of xlua.OptionParser.
-- @pattern optionparser
-- @within xlua
-- @follows Torch7's xlua.OptionParser
-- @raise nothing: for an invalid command line it prints the error and ends the process with status
--    1

return new
