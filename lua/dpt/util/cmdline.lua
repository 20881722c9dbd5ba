--- torch.CmdLine: options and arguments of a script, their help, and a log of its output.
--
-- Invariant: the keys of `parse`'s result are the option names without dashes; for an invalid
-- command line it prints the error and the help, and ends the process with status 1.
local dptffi = require 'dpt.ffi'
local output = require 'dpt.output'
local torch = require('dpt.class').torch
local type = dptffi.type

local CmdLine = torch.class('torch.CmdLine')

local function bare(key) return (key:gsub('^%-*', '')) end

--- torch.CmdLine([argumentSeparator, keySeparator]): sets the separators of CmdLine:string.
function CmdLine:__init(argumentSeparator, keySeparator)
   self.argseparator = argumentSeparator or ','
   self.keyseparator = keySeparator or '='
   self.options, self.arguments, self.helplines = {}, {}, {}
   self.silentio = false
end

--- Adds a line of text between the options in the help.
-- @function torch.CmdLine:text
-- @as cmdline
-- @param text? string: the line ('')
-- @return nothing
-- @usage local c = torch.CmdLine()
--    c:text 'Trains a network'
--    return c.helplines --> {Trains a network}
function CmdLine:text(text)
   if text ~= nil and type(text) ~= 'string' then
      dptffi.fail("CmdLine:text: argument 'text' is a %s, wanted a string", torch.type(text))
   end
   table.insert(self.helplines, text or '')
end

--- Adds a required argument; several arguments are expected in the order of these calls.
-- @function torch.CmdLine:argument
-- @as cmdline
-- @param key string: its name in parse's result
-- @param help string: text for the help
-- @param kind? string: the required type
-- @return nothing
-- @usage local c = torch.CmdLine()
--    c:argument('data', 'a folder')
--    return c:parse{'here'} --> {data=here}
function CmdLine:argument(key, help, kind)
   local argument = {key = key, help = help, type = kind}
   table.insert(self.arguments, argument)
   table.insert(self.helplines, argument)
end

--- Adds an option. Numbers and strings take a value, the next word or after a `=`; a boolean option
-- without a value inverts its default, and `=true` or `=false` sets it.
-- @function torch.CmdLine:option
-- @as cmdline
-- @param key string: with its dashes, such as '-size'
-- @param default any: a number, string or boolean
-- @param help? string: text for the help
-- @param kind? string: its type (that of the default)
-- @return nothing
-- @usage local c = torch.CmdLine()
--    c:option('-rate', 0.1)
--    c:option('-fast', false)
--    return c:parse{'-fast', '-rate=0.2'} --> {fast=true rate=0.2}
function CmdLine:option(key, default, help, kind)
   if default == nil then dptffi.fail("CmdLine:option: option '%s' has no default value", key) end
   kind = kind or type(default)
   if kind ~= type(default) then
      dptffi.fail("CmdLine:option: the default of option '%s' is a %s, wanted a %s", key,
         type(default), kind)
   end
   local option = {key = key, default = default, help = help, type = kind}
   self.options[key] = option
   table.insert(self.helplines, option)
end

--- Returns the options' defaults by name.
-- @function torch.CmdLine:default
-- @as cmdline
-- @return a table: name without dashes -> value
-- @usage local c = torch.CmdLine()
--    c:option('-n', 3)
--    return c:default() --> {n=3}
function CmdLine:default()
   local params = {}
   for key, option in pairs(self.options) do params[bare(key)] = option.default end
   return params
end

--- Prints a message and the help, and ends the process.
-- @function torch.CmdLine:error
-- @as cmdline
-- @param message string: the message
-- @return nothing: the process ends with status 1
-- @usage local exit, c, status = os.exit, torch.CmdLine()
--    os.exit = function(s) status = s end
--    c.help = function() end
--    c:error ''
--    os.exit = exit
--    return status --> 1
function CmdLine:error(message)
   io.stderr:write(message, '\n')
   self:help()
   os.exit(1)
end

-- Returns the option that a word names, and the value of `-key=value`; nil if it is no option.
local function optionOf(self, word)
   if self.options[word] then return self.options[word] end
   local key, value = tostring(word):match '^(%-[^=]*)=(.*)$'
   return self.options[key], value
end

-- Parses a value into params. value: nil for a boolean option without a value
local function setOption(self, params, option, value)
   local key, kind = option.key, option.type
   local function reject(wanted)
      self:error(("option %s is '%s', wanted %s"):format(key, value, wanted))
   end
   if kind == 'boolean' and value == nil then
      value = not option.default
   elseif kind == 'boolean' then
      if value ~= 'true' and value ~= 'false' then reject 'true or false' end
      value = value == 'true'
   elseif kind == 'number' then
      value = tonumber(value) or reject 'a number'
   end
   params[bare(key)] = value
end

--- Parses a command line. For an invalid one it prints the error and the help, and ends the process
-- with status 1; -h and -help print the help.
-- @function torch.CmdLine:parse
-- @as cmdline
-- @param arg table: the words, as in the global arg
-- @return a table: names without dashes -> values
-- @usage local c = torch.CmdLine()
--    c:option('-n', 3)
--    return c:parse{'-n', '4'}.n --> 4
function CmdLine:parse(arg)
   local params, i, given = self:default(), 1, 0
   while i <= #arg do
      local word = arg[i]
      local option, value = optionOf(self, word)
      i = i + 1
      if word == '-help' or word == '-h' or word == '--help' then
         self:help(arg)
         os.exit(0)
      elseif option then
         if value == nil and option.type ~= 'boolean' then
            value = arg[i]
            i = i + 1
            if value == nil then self:error('missing value of option ' .. option.key) end
         end
         setOption(self, params, option, value)
      else
         given = given + 1
         local argument = self.arguments[given]
         if not argument then self:error("unknown option or argument '" .. word .. "'") end
         if argument.type and type(word) ~= argument.type then
            self:error(("argument %s is a %s, wanted a %s"):format(argument.key, type(word),
               argument.type))
         end
         params[bare(argument.key)] = word
      end
   end
   if given < #self.arguments then
      self:error('missing argument ' .. self.arguments[given + 1].key)
   end
   return params
end

--- Returns a folder name made of the values that differ from the defaults, sorted, arguments first.
-- @function torch.CmdLine:string
-- @as cmdline
-- @param prefix string: the beginning of the name
-- @param params table: result of parse
-- @param ignore? table: name -> true: left out; false: included even if it is the default
-- @return a string
-- @usage local c = torch.CmdLine()
--    c:option('-n', 3)
--    c:option('-m', 1)
--    return c:string('run', {n = 5, m = 1}, {}) --> run,n=5
function CmdLine:string(prefix, params, ignore)
   ignore = ignore or {}
   local parts, options, order = {}, {}, {}
   for i, argument in ipairs(self.arguments) do order[bare(argument.key)] = i end
   local arguments = {}
   for name, value in pairs(params) do
      local option = self.options['-' .. name] or self.options['--' .. name]
      if type(value) == 'boolean' then value = value and 't' or 'f' end
      local text = name .. self.keyseparator .. tostring(value)
      if ignore[name] then
         print('-- ignore option ' .. name)
      elseif option then
         if params[name] ~= option.default or ignore[name] == false then
            table.insert(options, text)
         end
      elseif order[name] then
         table.insert(arguments, {order[name], text})
      else
         print(("WARNING: '%s' is neither an option nor an argument, not added to the name"):format(
            name))
      end
   end
   table.sort(arguments, function(a, b) return a[1] < b[1] end)
   table.sort(options)
   if prefix and prefix ~= '' then table.insert(parts, prefix) end
   for _, argument in ipairs(arguments) do table.insert(parts, argument[2]) end
   for _, option in ipairs(options) do table.insert(parts, option) end
   return table.concat(parts, self.argseparator)
end

--- Makes `log` write only to its file.
-- @function torch.CmdLine:silent
-- @as cmdline
-- @return nothing
-- @usage local c = torch.CmdLine()
--    local before = c.silentio
--    c:silent()
--    return before, c.silentio --> false, true
function CmdLine:silent() self.silentio = true end

--- Adds the time to the beginning of every line of the log.
-- @function torch.CmdLine:addTime
-- @as cmdline
-- @param name? string: added after the time, in [ ]
-- @param format? string: as for os.date
-- @return nothing
-- @usage local c = torch.CmdLine()
--    c:addTime('job', '%Y')
--    return c.dateformat:sub(1, 7) --> %Y[job]
function CmdLine:addTime(name, format)
   format = format or '%Y-%m-%d %H:%M:%S'
   if type(format) ~= 'string' then
      dptffi.fail("CmdLine:addTime: argument 'format' is a %s, wanted a string", torch.type(format))
   end
   self.dateformat = format .. (name and '[' .. name .. ']: ' or '')
end

--- Replaces the global print, for the log.
-- @function torch.CmdLine.setPrint
-- @as cmdline
-- @also torch.CmdLine:setPrint()
-- @param f function: the new print
-- @return nothing
-- @usage local before, out = print, nil
--    torch.CmdLine.setPrint(function(text) out = text end)
--    print 'a line'
--    torch.CmdLine.setPrint(before)
--    return out --> a line
CmdLine.setPrint = nil

--- Copies everything printed from now on to a file, after the parameters.
-- @function torch.CmdLine:log
-- @as cmdline
-- @param file string: its path, or an open file
-- @param params? table: result of parse, written first
-- @return nothing
-- @usage local before, p, c = print, os.tmpname(), torch.CmdLine()
--    c:silent()
--    c:log(p, {n = 2})
--    print 'a line'
--    torch.CmdLine.setPrint(before)
--    local text = paths.execute('cat ' .. p)
--    os.remove(p)
--    return text:gsub('%s+', ' '):match '%[command.*%w'
--    --> [command line arguments] n 2 [----------------------] a line
function CmdLine:log(file, params)
   local handle, path = file, 'the log'
   if io.type(file) ~= 'file' then
      handle, path = output.log('CmdLine:log', file, 'w'), file
   end
   local before = print
   CmdLine.setPrint(function(...)
      if not self.silentio then before(...) end
      local parts = {}
      if self.dateformat then parts[1] = os.date(self.dateformat) end
      for i = 1, select('#', ...) do parts[#parts + 1] = tostring((select(i, ...))) end
      parts[#parts + 1] = '\n'
      -- the line end is one more word
      output.add('CmdLine:log', path, handle, table.concat(parts, ' '))
   end)
   print('[program started on ' .. os.date() .. ']')
   print('[command line arguments]')
   local names = {}
   for name in pairs(params or {}) do names[#names + 1] = name end
   table.sort(names)
   for _, name in ipairs(names) do print(name, params[name]) end
   print('[----------------------]')
end

--- Prints the help.
-- @function torch.CmdLine:help
-- @as cmdline
-- @param arg? table: the command line; arg[0] is the program's name
-- @return nothing
-- @usage local write, out, c = io.write, '', torch.CmdLine()
--    c:option('-n', 3, 'how many')
--    io.write = function(...) out = out .. table.concat{...} end
--    c:help()
--    io.write = write
--    return out:match '%-n[^\n]*' --> -n how many [3]
function CmdLine:help(arg)
   local usage, width = {'Usage:'}, 0
   if arg then usage[2] = arg[0] end
   usage[#usage + 1] = '[options]'
   for _, argument in ipairs(self.arguments) do
      usage[#usage + 1] = '<' .. bare(argument.key) .. '>'
   end
   local function label(line)
      return line.default ~= nil and line.key or '<' .. bare(line.key) .. '>'
   end
   for _, line in ipairs(self.helplines) do
      if type(line) == 'table' then width = math.max(width, #label(line)) end
   end
   io.write(table.concat(usage, ' '), '\n')
   for _, line in ipairs(self.helplines) do
      if type(line) == 'table' then
         local default = line.default ~= nil and ' [' .. tostring(line.default) .. ']' or ''
         local help = line.help and ' ' .. line.help or ''
         io.write('  ', label(line), (' '):rep(width - #label(line)), help, default, '\n')
      else
         io.write(line, '\n')
      end
   end
end

--- Tags shared by the reference entries of command lines.
-- @pattern cmdline
-- @within utilities
-- @follows Torch7's torch.CmdLine
-- @raise if an argument has the wrong type; the message names it

return CmdLine
