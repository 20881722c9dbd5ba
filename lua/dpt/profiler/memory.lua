--- dpt.profiler.memory: finds which modules hold the memory of devices during a profile.
--
-- Invariant: a block belongs to the module that was running when it was allocated; blocks allocated
-- before the profile belong to no module, but count as a device's live bytes. Sizes are the
-- allocator's, rounded up to its granularity, and include temporary memory of kernels.
local OUTSIDE = '(before)'

-- Returns the holders and their bytes, largest first.
local function holders(held)
   local list = {}
   for name, bytes in pairs(held) do
      if bytes > 0 then list[#list + 1] = {name = name, bytes = bytes} end
   end
   table.sort(list, function(a, b)
      if a.bytes ~= b.bytes then return a.bytes > b.bytes end
      return a.name < b.name
   end)
   return list
end

local function nameOf(args)
   if args.class ~= '' then
      return (args.module ~= '' and args.module .. ' ' or '') .. args.class
   end
   return args.phase ~= '' and args.phase or '(script)'
end

local Memory = {}
Memory.__index = Memory

local MOST = 10 -- holders in the text

function Memory:__tostring()
   local lines = {}
   for _, device in ipairs(self) do
      lines[#lines + 1] = ('device %d: %d bytes live at the end, at most %d, %.3f ms after the'
         .. ' start, held by'):format(device.device, device.live, device.peak, device.at / 1e3)
      for i = 1, math.min(MOST, #device.holders) do
         local h = device.holders[i]
         lines[#lines + 1] = ('%14d  %s'):format(h.bytes, h.name)
      end
      if #device.holders > MOST then
         lines[#lines + 1] = ('%14s  %d other%s'):format('', #device.holders - MOST,
            #device.holders - MOST == 1 and '' or 's')
      end
   end
   return table.concat(lines, '\n')
end

--- Summarizes the memory of devices during a profile.
-- @param events list of the profile's events
-- @return list, for each device that allocated or freed memory, of {device, live, peak, at,
-- holders, course}: bytes at the end; peak bytes, their time (microseconds) and holders: list of
-- {name, bytes}; course: list of {ts, bytes}. tostring formats it as text
return function(events)
   local byDevice, result = {}, setmetatable({}, Memory)
   for _, e in ipairs(events) do
      local args = e.args
      if e.ph == 'i' and args.kind == 'memory' then
         local d = byDevice[e.pid]
         if not d then
            d = {device = e.pid, peak = -1, held = {}, owner = {}, course = {}}
            d.held[OUTSIDE] = args.live - args.bytes
            byDevice[e.pid], result[#result + 1] = d, d
         end
         local owner = args.bytes > 0 and nameOf(args) or d.owner[args.block] or OUTSIDE
         d.owner[args.block] = args.bytes > 0 and owner or nil
         d.held[owner] = (d.held[owner] or 0) + args.bytes
         d.live = args.live
         table.insert(d.course, {ts = e.ts, bytes = args.live})
         if args.live > d.peak then
            d.peak, d.at = args.live, e.ts
            d.holders = holders(d.held)
         end
      end
   end
   for _, d in ipairs(result) do d.held, d.owner = nil, nil end
   table.sort(result, function(a, b) return a.device < b.device end)
   return result
end
