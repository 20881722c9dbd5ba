--- xlua's help texts and named arguments: table2string, usage, unpack, unpack_class, usage_module.
--
-- Invariant: an argument is described by {arg = name, type = , help = , req = , default = ,
-- defaulta = the argument whose value is the default}. If a function receives a single table
-- without a list part (and without a class), its arguments are by name, else in the descriptions'
-- order.
local torch = require('dpt.class').torch
local colors = require('dpt.util.sys').COLORS
local expect = require 'dpt.class.expect'
local type = require('dpt.ffi').type

local usage = {}

local function text(value)
   if type(value) == 'table' then return usage.table2string(value) end
   if type(value) ~= 'string' then return tostring(value) end
   value = value:gsub('\n', '\\n')
   local quotes = value:gsub('[^\'"]', '')
   if quotes ~= '' and not quotes:find "'" then return "'" .. value .. "'" end
   return '"' .. value:gsub('"', '\\"') .. '"'
end

--- Formats a table as Lua source.
-- @function xlua.table2string
-- @as xlua
-- @param value table: with fields that are numbers, strings, booleans and tables
-- @param newline? boolean: true: each field on its own line
-- @return a string
-- @usage xlua.table2string{1, a = 'b'} --> {1,a="b"}
function usage.table2string(value, newline)
   expect('xlua.table2string', 'value', value, 'table')
   local parts = {}
   for _, v in ipairs(value) do parts[#parts + 1] = text(v) end
   local count = #parts
   for k, v in pairs(value) do
      if not (type(k) == 'number' and k >= 1 and k <= count and k % 1 == 0) then
         local key = type(k) == 'string' and k:match '^[%a_][%w_]*$' or '[' .. text(k) .. ']'
         parts[#parts + 1] = key .. (newline and ' : ' or '=') .. text(v)
      end
   end
   if newline then return '{\n   ' .. table.concat(parts, '\n   ') .. '\n}' end
   return '{' .. table.concat(parts, ',') .. '}'
end

local function pad(left) return left .. (' '):rep(40 - #left) end

local function line(description)
   local left = description.type or 'any'
   if description.arg then left = description.arg .. ' = ' .. left end
   if not description.req then left = '[' .. left .. ']' end
   local right = description.help or ''
   if type(description.default) == 'table' then
      right = right .. '  [default = ' .. usage.table2string(description.default) .. ']'
   elseif description.default ~= nil then
      right = right .. '  [default = ' .. tostring(description.default) .. ']'
   elseif description.defaulta then
      right = right .. '  [default == ' .. description.defaulta .. ']'
   end
   return pad('    ' .. left) .. '-- ' .. right
end

--- Formats the help of a function, for terminals.
-- @function xlua.usage
-- @as xlua
-- @param name string: of the function
-- @param description string: what the function does
-- @param example? string: an example of a call
-- @param ... table: for each argument {arg = name, type = , help = , req = , default = }
-- @return a string
-- @usage local text = xlua.usage('f', 'does it', nil, {arg = 'x', type = 'number', help = 'the x'})
--    return (text:match '%[x.-the x':gsub('%s+', ' ')) --> [x = number] -- the x
function usage.usage(name, description, example, ...)
   expect('xlua.usage', 'name', name, 'string')
   for argument, value in pairs{description = description or '', example = example or ''} do
      expect('xlua.usage', argument, value, 'string')
   end
   local list, rule = {...}, ('+'):rep(69)
   for _, entry in ipairs(list) do
      if entry ~= '' then expect('xlua.usage', 'descriptions', entry, 'table') end
   end
   if list[1] and list[1].tabled then list = list[1].tabled end
   local named = list[1] and list[1].arg
   local open, close = '(', ')'
   if named then open, close = '{', '}' end
   local lines = {rule, colors.Magenta .. name .. colors.none}
   if description then lines[#lines + 1] = '\n' .. description end
   lines[#lines + 1] = '\n' .. colors.blue .. '> ' .. colors.none .. 'usage:\n' .. colors.cyan
      .. name .. open
   for _, argument in ipairs(list) do
      if argument == '' then
         lines[#lines + 1] = close .. '\n' .. name .. open
      else
         lines[#lines + 1] = line(argument)
      end
   end
   lines[#lines + 1] = close .. colors.none
   if example then lines[#lines + 1] = '\n' .. colors.cyan .. example .. colors.none end
   lines[#lines + 1] = rule
   return table.concat(lines, '\n')
end

local function reject(why, help)
   if why then print(colors.Red .. why .. colors.none) end
   print(help)
   error(colors.Red .. 'error' .. colors.none, 3)
end

--- Parses a function's arguments, passed in order or as one table by name.
-- @function xlua.unpack
-- @as xlua
-- @param args table: the function's arguments, as {...}
-- @param name string: of the function, for the help that is printed if an argument is missing
-- @param description string: for the help
-- @param ... table: for each argument {arg = name, type = , help = , req = , default = }
-- @return a table: name -> value; then the values in order
-- @usage select(2, xlua.unpack({{y = 2}}, 'f', '', {arg = 'x', default = 1}, {arg = 'y'}))
--    --> 1, 2
function usage.unpack(args, name, description, ...)
   expect('xlua.unpack', 'args', args, 'table')
   local list = {...}
   for i = 1, select('#', ...) do
      local entry = expect('xlua.unpack', 'descriptions', list[i], 'table')
      expect('xlua.unpack', 'arg', entry.arg, 'string')
   end
   local help = setmetatable({}, {__tostring = function()
      local example
      if #list > 1 then
         example = ('%s{%s=%s, %s=%s}\n%s(%s, ...)'):format(name, list[2].arg, list[2].type,
            list[1].arg, list[1].type, name, list[1].type)
      end
      return usage.usage(name, description, example, {tabled = list})
   end})
   local first, given = args[1], {}
   if select('#', unpack(args)) == 0 then
      reject(nil, help)
   elseif #args == 1 and type(first) == 'table' and #first == 0 and not torch.typename(first) then
      given = first
   else
      for i, argument in ipairs(list) do given[argument.arg] = args[i] end
   end
   local values = {usage = help}
   for i, argument in ipairs(list) do
      local value = given[argument.arg]
      if value == nil and argument.req then reject('missing argument: ' .. argument.arg, help) end
      if value == nil then value = argument.default end
      if value == nil and argument.defaulta then value = values[argument.defaulta] end
      values[argument.arg], values[i] = value, value
   end
   return values, unpack(values, 1, #list)
end

--- Parses a constructor's arguments into the fields of an object.
-- @function xlua.unpack_class
-- @as xlua
-- @param object table: receives the fields
-- @param args table: the constructor's arguments
-- @param name string: of the class, for the help
-- @param description string: for the help
-- @param ... table: for each argument {arg = name, type = , help = , req = , default = }
-- @return nothing
-- @usage local o = {}
--    xlua.unpack_class(o, {{size = 3}}, 'C', '', {arg = 'size'})
--    return o.size --> 3
function usage.unpack_class(object, args, name, description, ...)
   for key, value in pairs((usage.unpack(args, name, description, ...))) do
      if type(key) ~= 'number' then object[key] = value end
   end
end

--- Sets the text that tostring and print show for a package.
-- @function xlua.usage_module
-- @as xlua
-- @param package table: the package
-- @param name string: its name
-- @param description? string: its purpose
-- @return the text
-- @usage local p = {}
--    xlua.usage_module(p, 'mine', 'for me')
--    return tostring(p):gsub('%s+', ' '):match 'PACKAGE.-for me' --> PACKAGE: mine DESC: for me
function usage.usage_module(package, name, description)
   expect('xlua.usage_module', 'package', package, 'table')
   expect('xlua.usage_module', 'name', name, 'string')
   local rule = ('+'):rep(69)
   local help = colors.magenta .. rule .. '\nPACKAGE:\n' .. name .. '\n'
      .. (description and '\nDESC:\n' .. description .. '\n' or '') .. rule .. colors.none
   local meta = getmetatable(package) or {}
   meta.__tostring = function() return help end
   setmetatable(package, meta)
   return help
end

return usage
