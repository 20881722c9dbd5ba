--- dpt.parallel.dispatch.replica: operations of a dispatcher on one replica, in the replica's
-- state.
--
-- Invariant: these functions take the replica, its number and values that can be sent to a thread,
-- and return such values (apply returns the results of its function).
local random = require 'dpt.parallel.dispatch.random'

local replica = {}

--- Calls a method of the module.
-- @param pass of dpt.parallel.dispatch.random, or nil
function replica.call(module, _, pass, method, input, other, scale)
   return random.within(pass, module[method], module, input, other, scale)
end

--- Calls a method of the module and discards its results.
function replica.callQuietly(module, _, method, ...)
   module[method](module, ...)
end

--- Calls a function with the module and its number.
function replica.apply(module, i, f)
   return f(module, i)
end

--- Frees memory that this state no longer uses.
function replica.collect()
   collectgarbage()
   collectgarbage()
end

return replica
