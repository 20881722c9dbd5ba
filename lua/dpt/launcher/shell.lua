--- dpt.launcher.shell: what other programs print, and the end of dpt's commands.
local shell = {}

--- What a shell command writes to standard output.
function shell.output(command)
   local pipe = io.popen(command)
   local text = pipe:read '*a'
   pipe:close()
   return text
end

--- Ends a command of dpt, with another status than 0 if the standard output cannot be written.
function shell.exit(status)
   local ok, why = io.stdout:flush()
   if not ok then io.stderr:write('dpt: cannot write the standard output: ', why, '\n') end
   os.exit(ok and status or math.max(status, 1))
end

return shell
