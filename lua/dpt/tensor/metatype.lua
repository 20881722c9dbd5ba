--- dpt.tensor.metatype: Lua's operators on tensors and storages, which ask their classes.
--
-- Invariant: C data has one metatable for all kinds, which never changes; each of its operators
-- calls what stands in the class of the first operand of the C type, under Torch7's own name
-- (__add__) or Lua's (__add), so that scripts replace either. The class answers for what it lacks,
-- so that scripts find what they wrap. t[key] asks the class only once a script has put an __index
-- or __newindex there.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local ffi, fail = dptffi.ffi, dptffi.fail
local type = dptffi.type
local istype = ffi.istype

--- Sets the metatable of a C type.
-- @param classes kind -> method table
-- @param metamethods __gc, __index and __newindex; gets the others
-- @param answers what classes answer for what they lack, with __index__(t, key), a value and true,
-- or false, and __newindex__(t, key, value), true; gets __index and __newindex
-- @param asked is called when t[key] shall ask the class from now on
return function(ctype, classes, metamethods, answers, asked)
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

   -- As Lua does for other objects, it asks only if both sides have the same one.
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
         if type(key) == 'string' and key:find '^__%a*index' then asked() end
      end)
   end
   ffi.metatype(ctype, metamethods)
end
