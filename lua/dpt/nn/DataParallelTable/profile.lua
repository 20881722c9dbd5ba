--- dpt.nn.DataParallelTable.profile: how long the parts of a step take.
--
-- Invariant: without a table of times nothing is measured and nothing waits; with one all devices
-- are idle when a part begins and when it ends, so what parts do at once is not seen.
local cutorch = require 'dpt.device'
local clock = require('dpt.util.sys').clock

local function ended(times, name, before, ...)
   cutorch.synchronizeAll()
   times[name] = (times[name] or 0) + clock() - before
   return ...
end

--- Calls f(...), the part of a step with that name.
-- @param times nil, or a table to whose field of that name the seconds are added
-- @return what f returns
return function(times, name, f, ...)
   if not times then return f(...) end
   cutorch.synchronizeAll()
   return ended(times, name, clock(), f(...))
end
