--- Shortens a list of calls by delta debugging.
--
-- Invariant: the result of list() still has the property, and no single line of it can be removed
-- (A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
local M = {}

local function without(list, from, to)
   local rest = {}
   for i, value in ipairs(list) do
      if i < from or i > to then rest[#rest + 1] = value end
   end
   return rest
end

--- @param list of anything; has(list) is true
-- @param has function(list) that returns true if a list still has the property
function M.list(list, has)
   local size = math.ceil(#list / 2)
   while #list > 0 do
      local changed, i = false, 1
      while i <= #list do
         local rest = without(list, i, math.min(i + size - 1, #list))
         if has(rest) then list, changed = rest, true else i = i + size end
      end
      if size == 1 and not changed then break end
      if not changed or size > #list then size = math.max(1, math.floor(size / 2)) end
   end
   return list
end

--- Returns one line of Lua that runs all lines even if they raise.
function M.line(list)
   local words = {}
   for i, line in ipairs(list) do
      words[i] = i < #list and ('pcall(function() %s end)'):format(line) or line
   end
   return ('v = {} ' .. table.concat(words, ' '))
end

return M
