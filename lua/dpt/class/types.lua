--- dpt.class.types: which class a value is of.
--
-- Invariant: an object's metatable is its class's method table; C data has none of its own, so
-- dpt.tensor says what the class of it is (setCdata).
local type = require('dpt.ffi').type

--- Adds typename, type and isTypeOf to torch.
-- @param children method table -> what is known of a class, for every class
-- @return {methodsOf = function(object) that returns its class's method table or nil, setCdata}
return function(torch, children)
   --- The method table of C data; dpt.tensor replaces this (nothing else is C data).
   local function cdataMethods() return nil end

   local function methodsOf(object)
      local kind = type(object)
      if kind == 'cdata' then return cdataMethods(object) end
      if kind == 'table' or kind == 'userdata' then
         local methods = getmetatable(object)
         -- a constructor hides its class's method table behind __metatable: it is no object
         if children[methods] and rawget(methods, '__constructor') ~= object
            and (kind ~= 'table' or not children[object]) then
            return methods
         end
      end
   end

   --- The name of the object's class; nil for what is no object of a class.
   function torch.typename(object)
      local methods = methodsOf(object)
      return methods and methods.__typename or nil
   end

   --- The name of the object's class, or Lua's type.
   function torch.type(object)
      local methods = methodsOf(object)
      return methods and methods.__typename or type(object)
   end

   --- Whether the object's class or one of its ancestors is `spec`: a constructor, a name, or a
   -- pattern that matches a part of the name (plain text must be the whole name).
   function torch.isTypeOf(object, spec)
      local methods = methodsOf(object) or type(object) == 'table' and getmetatable(object)
      if type(spec) == 'table' then spec = getmetatable(spec) end
      while type(methods) == 'table' do
         if spec == methods then return true end
         local name = methods.__typename
         local found = type(spec) == 'string' and name and name:match(spec)
         if found and (found ~= spec or found == name) then return true end
         methods = getmetatable(methods)
      end
      return false
   end

   return {
      methodsOf = methodsOf,
      --- Sets how the method table of C data is found: f(object) returns it or nil.
      setCdata = function(f) cdataMethods = f end,
   }
end
