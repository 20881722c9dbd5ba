--- dpt.tensor.metatype: Lua operators of tensors and storages, dispatched to their classes.
--
-- Invariant: cdata has one metatable for all kinds, which never changes. Each of its operators
-- calls the function in the class of the first operand that has the C type, under Torch7's name
-- (__add__) or Lua's (__add), so that scripts can replace either. A class returns a default for an
-- operator that it lacks, so that scripts can wrap it. t[key] consults the class only after a
-- script has set an __index or __newindex there.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local ffi, fail = dptffi.ffi, dptffi.fail
local type = dptffi.type
local istype = ffi.istype

--- Sets the metatable of a C type.
-- @param classes kind -> method table
-- @param metamethods __gc, __index and __newindex; receives the others
-- @param answers defaults of operators that a class lacks, with __index__(t, key) -> a value and
-- true, or false, and __newindex__(t, key, value) -> true; receives __index and __newindex
-- @param onCustomIndex called when t[key] must consult the class from now on
return function(ctype, classes, metamethods, answers, onCustomIndex)
   local function ofClass(t, lua, torch7)
      local methods = classes[t.kind_]
      return rawget(methods, torch7) or methods[lua]
   end

   for name in ('add sub mul div mod pow unm concat lt le len tostring'):gmatch '%a+' do
      local lua, torch7 = '__' .. name, '__' .. name .. '__'
      metamethods[lua] = function(a, b)
         return ofClass(istype(ctype, a) and a or b, lua, torch7)(a, b)
      end
   end

   function metamethods.__call(t, ...)
      return ofClass(t, '__call', '__call__')(t, ...)
   end

   -- As for Lua's other objects, the operator is called only if both sides have the same one.
   function metamethods.__eq(a, b)
      if rawequal(a, b) then return true end
      if not (istype(ctype, a) and istype(ctype, b)) then return false end
      local f = ofClass(a, '__eq', '__eq__')
      return f == ofClass(b, '__eq', '__eq__') and f(a, b)
   end

   function answers.__index(t, key)
      local methods = classes[t.kind_]
      local value, handled = methods.__index__(t, key)
      if handled then return value end
      return methods[key]
   end

   function answers.__newindex(t, key, value)
      local methods = classes[t.kind_]
      if not methods.__newindex__(t, key, value) then
         fail('%s: got an assignment to %s', methods.__typename, class.quote(key))
      end
   end

   for _, methods in pairs(classes) do
      class.observe(methods, answers, function(key)
         if type(key) == 'string' and key:find '^__%a*index' then onCustomIndex() end
      end)
   end
   ffi.metatype(ctype, metamethods)
end
