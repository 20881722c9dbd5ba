--- dpt.launcher.shell: reads the output of other programs, and ends dpt's commands.
local shell = {}

--- Returns the standard output of a shell command.
function shell.output(command)
   local pipe = io.popen(command)
   local text = pipe:read '*a'
   pipe:close()
   return text
end

--- Ends a command of dpt, with a nonzero status if standard output cannot be written.
function shell.exit(status)
   local ok, why = io.stdout:flush()
   if not ok then io.stderr:write('dpt: cannot write the standard output: ', why, '\n') end
   os.exit(ok and status or math.max(status, 1))
end

return shell
