--- dpt.launcher.profile: `dpt --profile=FILE program.lua`: profiles a whole program.
--
-- Invariant: the file is written however the program ends: normally, by os.exit or by an error.
-- A file that cannot be written ends the command before the program begins. The exit status is
-- the program's, or 1 instead of 0 if the profile could not be written at the end. If the program
-- starts its own profile, this one ends there.
local output = require 'dpt.output'

local profile = {}

local path, exit

-- Writes the file, once.
-- @return false if it could not be written
local function save()
   if not path then return true end
   local profiler = require 'dpt.profiler'
   local target = path
   path = nil
   local ok, written = pcall(profiler._stop, target)
   io.stdout:flush()
   if not ok then
      io.stderr:write('dpt: no profile: ', tostring(written), '\n')
      return false
   end
   io.stderr:write(tostring(profiler.summary()), '\n\n')
   local _, lost = profiler.count()
   if lost > 0 then
      io.stderr:write(('dpt: the buffer was full: the last %d records were dropped; profile a part'
         .. ' of the program with dpt.profiler.start() and stop()\n'):format(lost))
   end
   io.stderr:write(('dpt: view it with `dpt timeline %s > step.html`, or open it in'
      .. ' https://ui.perfetto.dev\n'):format(written))
   return true
end

--- Starts the profile that will be written to a file; exits if the file cannot be written.
function profile.begin(target)
   local ok, why = pcall(output.check, '--profile', target)
   if not ok then
      io.stderr:write('dpt: ', why, '\n')
      os.exit(1, true)
   end
   path, exit = target, os.exit
   os.exit = function(status, ...) -- luacheck: ignore
      local called, written = pcall(save)
      local good = status == nil or status == true or status == 0
      exit(good and not (called and written) and 1 or status, ...)
   end
   require('dpt.profiler')._start(function()
      io.stderr:write('dpt: the program takes a profile of its own: ', path, ' ends before it\n')
      save()
   end)
end

--- Ends the profile at the end of the program.
function profile.finish()
   local written = save()
   os.exit = exit -- luacheck: ignore
   if not written then os.exit(1, true) end
end

return profile
