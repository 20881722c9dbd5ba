--- dpt.class.transient: what a class may list as transient (dpt.transient has what that means).
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Raises if the list of the class `name` is not one of names of fields.
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
