--- dpt.launcher.shell: what other programs print, for the commands of dpt.
local shell = {}

--- What a shell command writes to standard output.
function shell.output(command)
   local pipe = io.popen(command)
   local text = pipe:read '*a'
   pipe:close()
   return text
end

return shell
