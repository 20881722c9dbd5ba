--- others: the cores that other programs used while the demo trained.
--
-- Invariant: depends only on its text, written by scripts/demo: `cores` with the numbers of the
-- cores that the program may use, the lines `cpu` of /proc/stat before the run, `seconds` with its
-- user, system and elapsed time, and the lines `cpu` after it.
local TICKS = 100 -- of /proc/stat, per second

-- Returns the busy seconds of the cores, and their busy and idle seconds together.
local function seconds(text, cores)
   local busy, all = 0, 0
   for core, line in text:gmatch 'cpu(%d+)([^\n]*)' do
      local user, nice, system, idle, iowait, irq, softirq, steal = line:match(
         (' (%d+)'):rep(8))
      if cores[core] and steal then
         busy = busy + user + nice + system + irq + softirq + steal
         all = all + user + nice + system + idle + iowait + irq + softirq + steal
      end
   end
   return busy / TICKS, all / TICKS
end

--- Returns the mean number of a program's cores that other programs used during its run, and the
-- number of its cores.
-- @param text as above
-- @return two numbers; nil and the second one on a system without these counters
return function(text)
   local list, before, user, system, elapsed, after = text:match(
      '^cores (%S+)\n(.-)seconds (%S+) (%S+) (%S+)\n(.*)$')
   local cores, count = {}, 0
   for core in list:gmatch '%d+' do
      cores[core], count = true, count + 1
   end
   local busyBefore, allBefore = seconds(before, cores)
   local busyAfter, allAfter = seconds(after, cores)
   if allAfter <= allBefore then return nil, count end
   return math.max(0, (busyAfter - busyBefore - user - system) / elapsed), count
end
