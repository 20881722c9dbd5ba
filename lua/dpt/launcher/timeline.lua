--- dpt.launcher.timeline: `dpt timeline`: writes profiles as a page, or as a picture.
--
-- Invariant: on failure it writes nothing, reports the reason and exits with a nonzero status.
local options = require 'dpt.launcher.options'

local timeline = {}

local usage = [=[
usage: dpt timeline [--svg [--from=MS] [--to=MS]] PROFILE ... > FILE

Writes an HTML timeline of profiles (dpt --profile=FILE, dpt.profiler.stop), or with --svg
a picture of the streams between two times. Several profiles: those of the ranks of a job.
]=]

--- Runs the command `dpt timeline`.
-- @param words of the command line after `timeline`
-- @return the exit status
function timeline.run(words)
   local given, paths = options.command('dpt timeline', usage, words,
      {['--svg'] = 'flag', ['--from'] = 'number', ['--to'] = 'number'}, true)
   if not given then return paths end
   if #paths == 0 then return options.wrong('dpt timeline', usage, 'no profile is named') end
   local library = require 'dpt.profiler.timeline'
   local ok, why = pcall(function()
      local profiles = {}
      for i, path in ipairs(paths) do profiles[i] = library.read(path) end
      local text = given['--svg'] and library.picture(profiles, given['--from'], given['--to'])
         or library.page(profiles)
      require('dpt.output').add('timeline', 'the standard output', io.stdout, text)
   end)
   if not ok then
      io.stderr:write('dpt ', (tostring(why):gsub('^.-timeline: ', 'timeline: ')), '\n')
      return 1
   end
   return 0
end

--- Entry point of the shell script `dpt`.
function timeline.main(words) return timeline.run({unpack(words)}) end

return timeline
