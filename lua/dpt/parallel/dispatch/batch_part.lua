--- dpt.parallel.dispatch.batch_part: gives modules information about the part of a batch in their
-- pass.
--
-- Invariant: it sets the field batchPart of modules whose class has it (as false) to a table while
-- a pass over a part runs. Before and after a pass the modules have no such field, so files and
-- copies never contain it: {share = rows of the part / rows of the whole batch, nil: unknown;
-- devices = largest number of devices of a rank, if gradOutput is that of the mean over several
-- ranks}.
local batchPart = {}

--- Returns the modules of a network that have the field.
function batchPart.modulesOf(module)
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
-- @param values list by replica; nil: a pass has ended
function batchPart.setReplica(replica, i, values)
   set(batchPart.modulesOf(replica), values and values[i])
end

--- Calls f(...), a pass over a part.
-- @param list modules that have the field
-- @return what f returns
function batchPart.within(list, value, f, ...)
   if #list == 0 then return f(...) end
   set(list, value)
   local results = {pcall(f, ...)}
   set(list, nil)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

return batchPart
