--- dpt.transient: fields of objects that belong to a call and not to the object.
--
--    MyLayer.transient = {'cache', 'lastInput'} -- of all its objects and its descendants'
--
-- Invariant: copies, files, other Lua states, type() and clearState() do without the fields that
-- an object's class and its ancestors list. An object without them is as good as new: what its
-- class wants to find there, its method resetTransient() makes. A class that writes and reads its
-- files itself decides what is in them.
local class = require 'dpt.class'

local M = {}

local NONE = {}

--- Methods write and read of classes that do what is done without them (as keys): nn.Module's, for
-- classes of users to call. Whoever copies objects in another way than by files need not call them.
M.plain = {}

--- The transient fields of a value.
-- @return set of names; empty if the value is no object of a class or its class lists none
function M.of(value)
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

--- The other fields of an object, as a new table.
function M.kept(object)
   local skip, fields = M.of(object), {}
   for name, value in next, object do
      if not skip[name] then fields[name] = value end
   end
   return fields
end

--- Objects of which fields are being read, as keys: what is read meanwhile may lead to them.
M.unread = setmetatable({}, {__mode = 'k'})

--- Drops an object's transient fields, which ends its reading.
function M.reset(object)
   M.unread[object] = nil
   local names = M.of(object)
   if names == NONE then return end
   for name in next, names do rawset(object, name, nil) end
   if object.resetTransient then object:resetTransient() end
end

return M
