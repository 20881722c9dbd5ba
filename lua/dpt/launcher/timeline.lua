--- dpt.launcher.timeline: `dpt timeline` writes profiles as a page, or as a picture.
--
-- Invariant: on a failure nothing is written, the reason is said and the status is not 0.
local timeline = {}

local usage = [=[
usage: dpt timeline [--svg [--from=MS] [--to=MS]] PROFILE ... > FILE

Writes a page that shows profiles (dpt --profile=FILE, dpt.profiler.stop), or with --svg a picture
of what the streams ran between two times. Several profiles: those of the ranks of a job.
]=]

--- @param words of the command line behind `timeline`
-- @return the exit status
function timeline.run(words)
   local paths, options = {}, {}
   for _, word in ipairs(words) do
      local name, value = word:match '^%-%-(%l+)=?(.*)$'
      local number = tonumber(value)
      if name == 'help' then
         io.write(usage)
         return 0
      elseif name == 'svg' and value == '' then
         options.svg = true
      elseif (name == 'from' or name == 'to') and number then
         options[name] = number
      elseif word:sub(1, 1) == '-' then
         io.stderr:write('dpt timeline: got ', word, '\n', usage)
         return 2
      else
         paths[#paths + 1] = word
      end
   end
   if #paths == 0 then
      io.stderr:write(usage)
      return 2
   end
   local library = require 'dpt.profiler.timeline'
   local ok, text = pcall(function()
      local profiles = {}
      for i, path in ipairs(paths) do profiles[i] = library.read(path) end
      return options.svg and library.picture(profiles, options.from, options.to)
         or library.page(profiles)
   end)
   if not ok then
      io.stderr:write('dpt ', (tostring(text):gsub('^.-timeline: ', 'timeline: ')), '\n')
      return 1
   end
   io.write(text)
   return 0
end

--- For the shell script `dpt`.
function timeline.main(words) return timeline.run({unpack(words)}) end

return timeline
