--- dpt.launcher.help: what `? name` and `dpt help name` print: the reference's text of a name.
--
-- Invariant: the text is that of the comments (dpt.launcher.reference); a name that is not there is
-- answered by those that resemble it.
local help = {}

local USAGE = [[
? NAME      the reference of a name, as in ? nn.Linear, ? torch.add, ? view
$ COMMAND   runs a command of the shell
= VALUES    prints values; so does an expression without the =
Tab         completes names after a dot, methods after a colon, files in a string
Ctrl-C      ends what runs; once more within two seconds: ends dpt; Ctrl-D leaves]]

local function names(entry)
   local list = {entry['function']}
   for _, name in ipairs(entry.also) do list[#list + 1] = name end
   return list
end

--- The text about a name, and whether there is one. @param name '' is the prompt's own help
function help.text(name)
   if name == '' then return USAGE, true end
   local reference = require 'dpt.launcher.reference'
   local wanted, found, alike = name:gsub('%(.*$', ''):lower(), {}, {}
   for _, entry in ipairs((reference.entries())) do
      for i, known in ipairs(names(entry)) do
         local low = known:lower()
         if low == wanted or low:match '[^.:]*$' == wanted then
            found[#found + 1] = reference.text(entry)
            break
         elseif low:find(wanted, 1, true) and i == 1 then
            alike[#alike + 1] = known
         end
      end
   end
   if #found > 0 then return table.concat(found, '\n\n'), true end
   if #alike > 0 then
      table.sort(alike)
      return ("there is no '%s'; there are %s"):format(name, table.concat(alike, ', ')), false
   end
   return ("the reference has no '%s'"):format(name), false
end

--- For the shell script `dpt`. @return the exit status
function help.main(words)
   if #words ~= 1 then
      io.stderr:write 'usage: dpt help NAME\n'
      return 2
   end
   local text, found = help.text(words[1])
   print(text)
   return found and 0 or 1
end

return help
