--- dpt.threads.cdata: C data that dpt does not know: pointers, numbers, structs and arrays.
--
-- Invariant: a pointer keeps all of its bits and stays a pointer: what it points to is not copied
-- and does not become the receiver's. Structs and arrays are copied byte by byte. The type goes by
-- its name, so that the receiver must have declared it.
local ffi = require('dpt.ffi').ffi

local cdata = {}

local function bytesAt(v, size) return ffi.string(ffi.cast('const char *', v), size) end

--- The type's name and the bytes of C data; nil: it has no name, is a reference, or is dpt's own,
-- whose memory would have two owners.
function cdata.bytes(v)
   local name = tostring(ffi.typeof(v)):match '^ctype<(.*)>$'
   if name:find 'struct %d' or name:find 'union %d' or name:find '&' or name:find '%f[%w_]dpt_' then
      return nil
   end
   if name:find '%[' then return name, bytesAt(v, ffi.sizeof(v)) end
   local box
   if name:find '%*' then
      box = ffi.new('uintptr_t[1]', ffi.cast('uintptr_t', v))
   else
      box = ffi.new(name .. '[1]', v)
   end
   return name, bytesAt(box, ffi.sizeof(box))
end

local function filled(v, bytes)
   ffi.copy(v, bytes, #bytes)
   return v
end

--- C data of that type with those bytes; nil: there is no such type here.
function cdata.make(name, bytes)
   local ok, ctype = pcall(ffi.typeof, name)
   if not ok then return nil end
   if name:find '%[%?%]' then
      local count = #bytes / ffi.sizeof((name:gsub('%[%?%]', '')))
      return filled(ffi.new(ctype, count), bytes)
   elseif name:find '%[' or name:find '^struct [^*]*$' or name:find '^union [^*]*$' then
      return filled(ffi.new(ctype), bytes)
   elseif name:find '%*' then
      return ffi.cast(ctype, filled(ffi.new 'uintptr_t[1]', bytes)[0])
   end
   return ctype(filled(ffi.new(name .. '[1]'), bytes)[0])
end

return cdata
