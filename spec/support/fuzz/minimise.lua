--- Delta debugging of a list of calls.
--
-- Invariant: what list() returns still has what was looked for, and no single line of it can be
-- left out (A. Zeller and R. Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
local M = {}

local function without(list, from, to)
   local rest = {}
   for i, value in ipairs(list) do
      if i < from or i > to then rest[#rest + 1] = value end
   end
   return rest
end

--- @param list of anything; has(list) is true of it
-- @param has whether a list still has what is looked for
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

--- Lines as one line of Lua that runs all of them whatever they raise.
function M.line(list)
   local words = {}
   for i, line in ipairs(list) do
      words[i] = i < #list and ('pcall(function() %s end)'):format(line) or line
   end
   return ('v = {} ' .. table.concat(words, ' '))
end

return M
