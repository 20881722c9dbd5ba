--- dpt.file.way: where in a tree of values the one is that is being written, for error messages.
--
-- Invariant: file.path_[d] is set by whoever writes the value at depth d: a key of a table, false
-- for an object's fields, or the list of a function's upvalues, of which the next entry is one.
local type = require('dpt.ffi').type

--- The way to the value, such as ' at <?>.modules.2.hook': the name of the whole, keys of the
-- tables around the value, names of upvalues.
return function(file)
   local parts, path, depth = {file.root_}, file.path_, 1
   while depth <= file.depth_ do
      local part = path[depth]
      if type(part) == 'table' then
         local upvalue = part[path[depth + 1]]
         part = type(upvalue) == 'table' and upvalue.name
         depth = depth + 2
      end
      if part then parts[#parts + 1] = tostring(part) end
      depth = depth + 1
   end
   return ' at ' .. table.concat(parts, '.')
end
