--- dpt.deep: recursion that goes deeper than a stack of Lua's.
--
-- Invariant: a recursion that counts its levels and takes each of them by this function uses a
-- stack of Lua's, which holds about 2500 levels of what dpt calls so and may be in use by others,
-- for a few hundred: then the next one. An error has the script's line, as without that.
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local STRETCH = 400

--- Calls f(...) as a level of a recursion.
-- @param level its number
-- @return what f returns first
return function(level, f, ...)
   if level % STRETCH > 0 then return f(...) end
   local ok, result = coroutine.resume(coroutine.create(f), ...)
   if ok then return result end
   if type(result) == 'string' and not result:find '^[^\n]*:%d+: ' then fail('%s', result) end
   error(result, 0)
end
