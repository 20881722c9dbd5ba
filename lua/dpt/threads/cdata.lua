--- dpt.threads.cdata: C data that dpt does not know: pointers, numbers, structs and arrays.
--
-- What must stay true: a pointer keeps all of its bits and stays a pointer: what it points to is
-- not copied and does not become the receiver's. Structs and arrays are copied byte by byte. The
-- type goes by its name, so that the receiver must have declared it.
local ffi = require('dpt.ffi').ffi

local cdata = {}

local function typeName(v) return tostring(ffi.typeof(v)):match '^ctype<(.*)>$' end

--- The type's name and the bytes of C data; nil: it has no name or is a reference.
function cdata.bytes(v)
   local name = typeName(v)
   if name:find 'struct %d' or name:find 'union %d' or name:find '&' then return nil end
   if name:find '%[' then return name, ffi.string(ffi.cast('const char *', v), ffi.sizeof(v)) end
   local box = ffi.new(ffi.typeof('$[1]', ffi.typeof(v)), v)
   return name, ffi.string(ffi.cast('const char *', box), ffi.sizeof(box))
end

--- C data of that type with those bytes.
function cdata.make(name, bytes)
   local ok, ctype = pcall(ffi.typeof, name)
   if not ok then return nil end
   if name:find '%[' then
      local element = name:find '%[%?%]' and ffi.sizeof(ffi.typeof((name:gsub('%[%?%]', ''))))
      local array = element and ffi.new(ctype, #bytes / element) or ffi.new(ctype)
      ffi.copy(array, bytes, #bytes)
      return array
   end
   local box = ffi.new(ffi.typeof('$[1]', ctype))
   ffi.copy(box, bytes, #bytes)
   if name:find '%*' then return ffi.cast(ctype, box[0]) end
   return ctype(box[0])
end

return cdata
