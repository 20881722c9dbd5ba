--- dpt.launcher.profile: `dpt --profile=FILE program.lua`: a profile of the whole program.
--
-- Invariant: the file is written however the program ends: at its end, by os.exit or by an error;
-- what cannot be written is said, and does not change how the program ends. The exit status is the
-- program's. If the program begins a profile of its own, the file ends there.
local profile = {}

local path, exit

-- Writes the file, once.
local function save()
   if not path then return end
   local profiler = require 'dpt.profiler'
   local target = path
   path = nil
   local ok, written = pcall(profiler._stop, target)
   io.stdout:flush()
   if not ok then
      io.stderr:write('dpt: no profile: ', tostring(written), '\n')
      return
   end
   io.stderr:write(tostring(profiler.summary()), '\n\n')
   local _, lost = profiler.count()
   if lost > 0 then
      io.stderr:write(('dpt: the last %d records are lost for lack of space: profile a part of the'
         .. ' program with dpt.profiler.start() and stop()\n'):format(lost))
   end
   io.stderr:write(('dpt: see it with `dpt timeline %s > step.html`, or open it in'
      .. ' https://ui.perfetto.dev\n'):format(written))
end

--- Begins the profile that goes into a file.
function profile.begin(target)
   path, exit = target, os.exit
   os.exit = function(...) -- luacheck: ignore
      pcall(save)
      exit(...)
   end
   require('dpt.profiler')._start(function()
      io.stderr:write('dpt: the program takes a profile of its own: ', path, ' ends before it\n')
      save()
   end)
end

--- The program has come to its end.
function profile.finish()
   save()
   os.exit = exit -- luacheck: ignore
end

return profile
