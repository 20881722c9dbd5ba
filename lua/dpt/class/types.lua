--- dpt.class.types: finds the class of a value.
--
-- Invariant: an object's metatable is its class's method table. All C data share one metatable, so
-- dpt.tensor sets the function that finds the class of C data (setCdata).
local type = require('dpt.ffi').type

--- Adds typename, type and isTypeOf to torch.
-- @param children method table -> list of the class's descendants, for every class
-- @return {methodsOf = function(object) that returns its class's method table or nil, setCdata}
return function(torch, children)
   --- Returns the method table of C data; dpt.tensor replaces this (no other C data are objects).
   local function cdataMethods() return nil end

   local function methodsOf(object)
      local kind = type(object)
      if kind == 'cdata' then return cdataMethods(object) end
      if kind == 'table' or kind == 'userdata' then
         local methods = getmetatable(object)
         -- a constructor's __metatable is its class's method table, but it is not an object
         if children[methods] and rawget(methods, '__constructor') ~= object
            and (kind ~= 'table' or not children[object]) then
            return methods
         end
      end
   end

   --- Returns the name of the object's class; nil for other values.
   function torch.typename(object)
      local methods = methodsOf(object)
      return methods and methods.__typename or nil
   end

   --- Returns the name of the object's class, or Lua's type.
   function torch.type(object)
      local methods = methodsOf(object)
      return methods and methods.__typename or type(object)
   end

   --- Returns true if the object's class or one of its ancestors is `spec`: a constructor, a name,
   -- or a pattern that matches a part of the name (plain text must be the whole name).
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
      --- Sets the function that finds the method table of C data: f(object) returns it or nil.
      setCdata = function(f) cdataMethods = f end,
   }
end
