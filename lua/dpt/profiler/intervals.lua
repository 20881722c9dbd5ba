--- dpt.profiler.intervals: sets of times, as lists {begin, end, begin, end ...}.
--
-- Invariant: what is returned is sorted, and no two of its intervals touch.
local intervals = {}

--- The times of which at least one event is part.
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

--- How long all intervals are together.
function intervals.length(set)
   local sum = 0
   for i = 1, #set, 2 do sum = sum + set[i + 1] - set[i] end
   return sum
end

--- How long both sets last at the same time.
function intervals.common(a, b)
   local sum, i, k = 0, 1, 1
   while a[i] and b[k] do
      sum = sum + math.max(0, math.min(a[i + 1], b[k + 1]) - math.max(a[i], b[k]))
      if a[i + 1] < b[k + 1] then i = i + 2 else k = k + 2 end
   end
   return sum
end

return intervals
