--- dpt.deep: runs recursions that are deeper than one Lua stack allows.
--
-- Invariant: a recursion that counts its levels and calls this function for each level uses a few
-- hundred levels of one Lua stack, then a new stack. A stack holds about 2500 levels of dpt's
-- recursions, some of which may be in use. An error message names the same line of the script
-- as without this function.
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local STRETCH = 400

--- Calls f(...) as one level of a recursion.
-- @param level number of the level
-- @return the first result of f
return function(level, f, ...)
   if level % STRETCH > 0 then return f(...) end
   local ok, result = coroutine.resume(coroutine.create(f), ...)
   if ok then return result end
   if type(result) == 'string' and not result:find '^[^\n]*:%d+: ' then fail('%s', result) end
   error(result, 0)
end
