--- dpt.nn.DataParallelTable.profile: how long the parts of a step take.
--
-- Invariant: without a table of times nothing is measured and nothing waits; with one all devices
-- are idle when a part begins and when it ends, so what parts do at once is not seen.
local cutorch = require 'dpt.device'
local scope = require 'dpt.device.scope'
local clock = require('dpt.util.sys').clock

local function ended(times, name, before, ...)
   cutorch.synchronizeAll()
   times[name] = (times[name] or 0) + clock() - before
   return ...
end

--- Calls f(...), the part of a step with that name.
-- @param owner adds the seconds to that name in its own table profile, if there is one (every class
-- has a method profile with the package dpnn; scripts and files may still have the older name)
-- @return what f returns
return function(owner, name, f, ...)
   local times = rawget(owner, 'profile') or rawget(owner, 'times')
   if not times then return scope.call(name, f, ...) end
   cutorch.synchronizeAll()
   return ended(times, name, clock(), scope.call(name, f, ...))
end
