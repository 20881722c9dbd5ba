--- dpt.threads.cdata: sends cdata of types that dpt does not know: pointers, numbers, structs,
-- arrays.
--
-- Invariant: a pointer keeps all of its bits and stays a pointer: the memory behind it is not
-- copied and does not change its owner. Structs and arrays are copied byte by byte. The type is
-- sent by name, so the receiver must have declared it.
local ffi = require('dpt.ffi').ffi

local cdata = {}

local function bytesAt(v, size) return ffi.string(ffi.cast('const char *', v), size) end

--- Returns the type's name and the bytes of cdata; nil if the type has no name, is a reference, or
-- is dpt's own, whose memory would have two owners.
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

--- Returns cdata of that type with those bytes; nil if the type is not declared here.
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
