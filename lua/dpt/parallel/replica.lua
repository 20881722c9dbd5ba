--- dpt.parallel.replica: what a dispatcher does with one replica, where the replica lives.
--
-- What must stay true: these functions take the replica, its number and values that can be sent to
-- a thread, and return such values (apply gives what its function does).
local replica = {}

--- Calls a method of the module.
function replica.call(module, _, method, input, other, scale)
   return module[method](module, input, other, scale)
end

--- Calls a method of the module; what that returns stays there.
function replica.tell(module, _, method, ...)
   module[method](module, ...)
end

--- Calls a function with the module and its number.
function replica.apply(module, i, f)
   return f(module, i)
end

--- Lets go of memory that this state does not use any more.
function replica.collect()
   collectgarbage()
   collectgarbage()
end

local drawing = setmetatable({}, {__mode = 'k'}) -- by module

--- The modules in one that draw by row: they have a field rowOffset_.
function replica.drawing(module)
   local list = drawing[module]
   if not list then
      list = setmetatable({}, {__mode = 'v'})
      -- a criterion has no list
      for _, inner in ipairs(module.listModules and module:listModules() or {}) do
         if inner.rowOffset_ then list[#list + 1] = inner end
      end
      drawing[module] = list
   end
   return list
end

--- A module may have changed.
function replica.forget(module)
   if module then drawing[module] = nil end
end

--- Tells modules that draw by row where in the batch the replica's rows begin, so that they draw
-- what one device would.
-- @param before list of the rows before each replica's first
-- @param steps how often each of them has drawn; false: it is not told
function replica.tellRows(module, i, before, steps)
   for k, inner in ipairs(replica.drawing(module)) do
      if steps[k] then
         inner.rowOffset_, inner.dropoutStep_ = before[i], steps[k] -- idle ones have no rows
      end
   end
end

return replica
