--- dpt.nn.DataParallelTable.profile: measures how long each part of a step takes.
--
-- Invariant: without a table of times nothing is measured and nothing waits. With one, all devices
-- are idle when a part begins and when it ends, so the times do not show overlap between parts.
local cutorch = require 'dpt.device'
local scope = require 'dpt.device.scope'
local clock = require('dpt.util.sys').clock

local function ended(times, name, before, ...)
   cutorch.synchronizeAll()
   times[name] = (times[name] or 0) + clock() - before
   return ...
end

--- Calls f(...), one part of a step.
-- @param owner if its field profile is a table of its own, the seconds are added to it under that
--    name (with the package dpnn every class has a method profile; scripts and files may use the
--    older name, times)
-- @return the results of f
return function(owner, name, f, ...)
   local times = rawget(owner, 'profile') or rawget(owner, 'times')
   if not times then return scope.call(name, f, ...) end
   cutorch.synchronizeAll()
   return ended(times, name, clock(), scope.call(name, f, ...))
end
