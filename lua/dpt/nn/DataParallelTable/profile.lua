--- dpt.nn.DataParallelTable.profile: measures how long each part of a step takes.
--
-- Invariant: without a table of times nothing is measured and nothing waits. With one, all devices
-- are idle when a part begins and when it ends, so overlap between parts does not show.
local cutorch = require 'dpt.device'
local scope = require 'dpt.device.scope'
local clock = require('dpt.util.sys').clock

local function ended(times, name, before, ...)
   cutorch.synchronizeAll()
   times[name] = (times[name] or 0) + clock() - before
   return ...
end

--- Calls f(...), one part of a step.
-- @param owner has the seconds added under that name in its field profile, if it is a table of its
--    own (with the package dpnn every class has a method profile; scripts and files may use the
--    older name, times)
-- @return the results of f
return function(owner, name, f, ...)
   local times = rawget(owner, 'profile') or rawget(owner, 'times')
   if not times then return scope.call(name, f, ...) end
   cutorch.synchronizeAll()
   return ended(times, name, clock(), scope.call(name, f, ...))
end
