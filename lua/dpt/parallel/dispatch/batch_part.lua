--- dpt.parallel.dispatch.batch_part: tells modules which part of a batch their pass handles.
--
-- Invariant: while a pass over a part runs, modules whose class has the field batchPart (as false)
-- have a table in it. Before and after a pass they have no such field, so files and copies never
-- contain it. The table is {share = rows of the part / rows of the whole batch, nil: unknown;
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

--- Calls f(...), which runs a pass over one part of a batch.
-- @param list modules that have the field
-- @return the results of f
function batchPart.within(list, value, f, ...)
   if #list == 0 then return f(...) end
   set(list, value)
   local results = {pcall(f, ...)}
   set(list, nil)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

return batchPart
