--- dpt.profiler.intervals: sets of times, as lists {begin, end, begin, end ...}.
--
-- Invariant: returned sets are sorted, and no two of their intervals touch.
local intervals = {}

--- Returns the times during which at least one event runs.
-- @param events with ts and dur
function intervals.union(events)
   local sorted = {}
   for i, e in ipairs(events) do sorted[i] = e end
   table.sort(sorted, function(a, b) return a.ts < b.ts end)
   local set = {}
   for _, e in ipairs(sorted) do
      local last = set[#set]
      if last and e.ts <= last then
         set[#set] = math.max(last, e.ts + e.dur)
      else
         set[#set + 1], set[#set + 2] = e.ts, e.ts + e.dur
      end
   end
   return set
end

--- Returns the total length of all intervals.
function intervals.length(set)
   local sum = 0
   for i = 1, #set, 2 do sum = sum + set[i + 1] - set[i] end
   return sum
end

--- Returns the length of the intersection of two sets.
function intervals.common(a, b)
   local sum, i, k = 0, 1, 1
   while a[i] and b[k] do
      sum = sum + math.max(0, math.min(a[i + 1], b[k + 1]) - math.max(a[i], b[k]))
      if a[i + 1] < b[k + 1] then i = i + 2 else k = k + 2 end
   end
   return sum
end

return intervals
