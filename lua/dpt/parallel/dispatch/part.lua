--- dpt.parallel.dispatch.part: tells modules which part of a batch their pass has.
--
-- Invariant: modules whose class has the field batchPart (false) have a table there while a pass of
-- a part runs, and nothing of their own before and after it, so that files and copies never contain
-- it: {share = rows of the part / rows of the whole batch, nil: unknown; devices = the most that a
-- rank has, if gradOutput is that of the mean over several ranks}.
local part = {}

--- Returns the modules of a network that are told.
function part.told(module)
   local list = {}
   for _, inner in ipairs(module.listModules and module:listModules() or {}) do
      if inner.batchPart ~= nil then list[#list + 1] = inner end
   end
   return list
end

local function set(list, value)
   for _, inner in ipairs(list) do rawset(inner, 'batchPart', value) end
end

--- Sets the part of replica i (run by a dispatcher).
-- @param values by replica; nil: a pass has ended
function part.setReplica(replica, i, values) set(part.told(replica), values and values[i]) end

--- Calls f(...), a pass of a part.
-- @param list of the modules that are told
-- @return what f returns
function part.within(list, value, f, ...)
   if #list == 0 then return f(...) end
   set(list, value)
   local results = {pcall(f, ...)}
   set(list, nil)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

return part
