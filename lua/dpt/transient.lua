--- dpt.transient: fields that belong to a call, not to the object.
--
--    MyLayer.transient = {'cache', 'lastInput'} -- for its objects and those of its descendants
--
-- Invariant: copies, files, other Lua states, type() and clearState() omit the fields that an
-- object's class and its ancestors list. An object without them works like a new one: its class's
-- method resetTransient() recreates the fields that it needs. A class that writes and reads its
-- files itself decides which fields they contain.
local class = require 'dpt.class'

local M = {}

local NONE = {}

--- Set of methods write and read that implement the default format, such as nn.Module's, for
-- classes of scripts to call. Code that copies objects without files need not call them.
M.plain = {}

--- Returns the transient fields of a value.
-- @return set of names; empty if the value is not an object of a class or its class lists none
function M.fieldsOf(value)
   local methods, names = class.methodsOf(value), nil
   while methods do
      for _, name in ipairs(rawget(methods, 'transient') or NONE) do
         names = names or {}
         names[name] = true
      end
      methods = getmetatable(methods)
   end
   return names or NONE
end

--- Returns the other fields of an object, as a new table.
function M.persistentFields(object)
   local skip, fields = M.fieldsOf(object), {}
   for name, value in next, object do
      if not skip[name] then fields[name] = value end
   end
   return fields
end

--- Set of objects whose fields are being read: values read before the end may refer to them.
M.unread = setmetatable({}, {__mode = 'k'})

--- Removes an object's transient fields, which ends its reading.
function M.clear(object)
   M.unread[object] = nil
   local names = M.fieldsOf(object)
   if names == NONE then return end
   for name in next, names do rawset(object, name, nil) end
   if object.resetTransient then object:resetTransient() end
end

return M
