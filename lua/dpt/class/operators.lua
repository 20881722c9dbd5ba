--- dpt.class.operators: Lua's metamethods for classes that define __add__, __call__, __index__ ...
--
-- Invariant: a metamethod looks the operator up when it is called, so every descendant sees a
-- redefinition. All classes share one metamethod for an operator, so Lua compares objects of two
-- classes with it. No metamethod makes a tail call, since scripts count stack levels. Every
-- class returns the metamethods under Lua's names (A.__add), so that scripts can wrap them. A
-- metatable contains only those of operators that the class defines, so that Lua treats objects
-- without operators as plain tables.
local dptffi = require 'dpt.ffi'
local fail = dptffi.fail
local type = dptffi.type

--- Returns the operator `key` of the first operand that has it.
local function find(key, a, b)
   local methods = getmetatable(a)
   local f = type(methods) == 'table' and methods[key]
   if f then return f end
   methods = getmetatable(b)
   return type(methods) == 'table' and methods[key]
end

local function wanted(key, a, b)
   return find(key, a, b) or fail('%s: neither operand has it', key)
end

local function same(...) return ... end

--- Maps __NAME__ to {Lua's name, the metamethod}.
local operators = {}
for name in ('add sub mul div mod pow unm concat len lt le'):gmatch('%a+') do
   local key = '__' .. name .. '__'
   operators[key] = {'__' .. name, function(a, b)
      local result = wanted(key, a, b)(a, b)
      return result
   end}
end
-- Every class has this one, as in Torch7: without __tostring__ it returns the class's name.
operators.__tostring__ = {'__tostring', function(object)
   local methods = getmetatable(object)
   local f = methods.__tostring__
   local text = f and f(object) or methods.__typename
   return text
end}
operators.__call__ = {'__call', function(a, ...) return same(wanted('__call__', a)(a, ...)) end}
operators.__eq__ = {'__eq', function(a, b)
   local f = find('__eq__', a, b)
   local result
   if f then result = f(a, b) else result = rawequal(a, b) end
   return result
end}
-- __index__ returns a value, and true if it handled the access; __newindex__ returns true if it did
operators.__index__ = {'__index', function(object, key)
   local methods = getmetatable(object)
   local f = methods.__index__
   if f then
      local value, handled = f(object, key)
      if handled then return value end
   end
   return methods[key]
end}
operators.__newindex__ = {'__newindex', function(object, key, value)
   local f = getmetatable(object).__newindex__
   if not (f and f(object, key, value)) then rawset(object, key, value) end
end}

--- The metamethods of all classes by Lua's names.
local defaults = {}
for _, operator in pairs(operators) do defaults[operator[1]] = operator[2] end

return {operators = operators, defaults = defaults}
