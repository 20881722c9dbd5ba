--- torch.CmdLine: options and arguments of a script, their help, and a log of what it prints.
--
-- Invariant: what `parse` returns has the option's name without its dashes as key; a wrong command
-- line prints what is wrong and the help, and ends the process with status 1.
local dptffi = require 'dpt.ffi'
local output = require 'dpt.output'
local torch = require('dpt.class').torch
local type = dptffi.type

local CmdLine = torch.class('torch.CmdLine')

local function bare(key) return (key:gsub('^%-*', '')) end

--- torch.CmdLine([argumentSeparator, keySeparator]): the separators are those of CmdLine:string.
function CmdLine:__init(argumentSeparator, keySeparator)
   self.argseparator = argumentSeparator or ','
   self.keyseparator = keySeparator or '='
   self.options, self.arguments, self.helplines = {}, {}, {}
   self.silentio = false
end

--- A line of help between the options.
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

--- An argument that must be given; several are given in the order of these calls.
-- @function torch.CmdLine:argument
-- @as cmdline
-- @param key string: its name in what parse returns
-- @param help string: for the help
-- @param kind? string: the type that it must have
-- @return nothing
-- @usage local c = torch.CmdLine()
--    c:argument('data', 'a folder')
--    return c:parse{'here'} --> {data=here}
function CmdLine:argument(key, help, kind)
   local argument = {key = key, help = help, type = kind}
   table.insert(self.arguments, argument)
   table.insert(self.helplines, argument)
end

--- An option. Numbers and strings take a value, the next word or after a `=`; a boolean option
-- alone inverts its default, with `=true` or `=false` it has that value.
-- @function torch.CmdLine:option
-- @as cmdline
-- @param key string: with its dashes, as '-size'
-- @param default any: a number, string or boolean
-- @param help? string: for the help
-- @param kind? string: its type, which is that of the default
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

--- Ends the process with what is wrong and the help.
-- @function torch.CmdLine:error
-- @as cmdline
-- @param message string: what is wrong
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

-- Returns the option that a word is, and its value if the word is `-key=value`; nil: it is none.
local function optionOf(self, word)
   if self.options[word] then return self.options[word] end
   local key, value = tostring(word):match '^(%-[^=]*)=(.*)$'
   return self.options[key], value
end

-- Reads a value into params. value: nil: a boolean option alone
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

--- Reads a command line. What is wrong with it is printed with the help, and ends the process with
-- status 1; -h and -help print the help.
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

--- A name for a folder: what differs from the defaults, sorted, arguments first.
-- @function torch.CmdLine:string
-- @as cmdline
-- @param prefix string: what the name begins with
-- @param params table: what parse returned
-- @param ignore? table: name -> true: left out; false: in it even if it is the default
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
         print(("WARNING: '%s' is neither option nor argument, left out of the name"):format(name))
      end
   end
   table.sort(arguments, function(a, b) return a[1] < b[1] end)
   table.sort(options)
   if prefix and prefix ~= '' then table.insert(parts, prefix) end
   for _, argument in ipairs(arguments) do table.insert(parts, argument[2]) end
   for _, option in ipairs(options) do table.insert(parts, option) end
   return table.concat(parts, self.argseparator)
end

--- From now on `log` writes only into its file.
-- @function torch.CmdLine:silent
-- @as cmdline
-- @return nothing
-- @usage local c = torch.CmdLine()
--    local before = c.silentio
--    c:silent()
--    return before, c.silentio --> false, true
function CmdLine:silent() self.silentio = true end

--- Puts the time before every line of the log.
-- @function torch.CmdLine:addTime
-- @as cmdline
-- @param name? string: stands behind the time, in [ ]
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

--- Whatever is printed from now on is also written to a file, the parameters first.
-- @function torch.CmdLine:log
-- @as cmdline
-- @param file string: its path, or an open file
-- @param params? table: what parse returned, which is written first
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
      -- the end of a line is one more word
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
-- @param arg? table: the command line, for the program's name in arg[0]
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

--- What methods of command lines have in common, for the reference.
-- @pattern cmdline
-- @within utilities
-- @follows Torch7's torch.CmdLine
-- @raise if an argument is of another kind, naming it

return CmdLine
