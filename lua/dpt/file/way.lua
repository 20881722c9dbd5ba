--- dpt.file.way: the path to the value that is being written, for error messages.
--
-- Invariant: the code that writes the value at depth d sets file.path_[d]: a key of a table, false
-- for an object's fields, or the list of a function's upvalues, of which the next entry is one.
local type = require('dpt.ffi').type

--- Returns the path to the value, such as ' at <?>.modules.2.hook': the name of the root, keys of
-- the enclosing tables, names of upvalues.
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
