--- dpt.parallel.replica: what a dispatcher does with one replica, where the replica lives.
--
-- What must stay true: these functions take the replica, its number and values that can be sent to
-- a thread, and return such values.
local replica = {}

--- Calls a method of the module.
function replica.call(module, _, method, input, other, scale)
   return module[method](module, input, other, scale)
end

--- Calls a method of the module; what that returns stays there.
function replica.tell(module, _, method, ...)
   module[method](module, ...)
end

return replica
