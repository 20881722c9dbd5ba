--- dpt.class.transient: checks a class's list of transient fields (see dpt.transient).
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Raises unless the list of the class `name` consists of names of fields.
return function(name, list)
   local fits = type(list) == 'table'
   for key, field in pairs(fits and list or {}) do
      fits = fits and type(key) == 'number' and type(field) == 'string'
   end
   if not fits then
      fail("torch.class: transient of class '%s' wants a list of names of fields, got %s", name,
         type(list) == 'table' and 'another table'
            or type(list) == 'string' and "'" .. list .. "'" or type(list))
   end
end
