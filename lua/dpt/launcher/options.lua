--- dpt.launcher.options: parses the command lines of dpt's commands.
--
-- Invariant: an option's value is the next word or attached to it: `--log FOLDER` and
-- `--log=FOLDER`, `-n 2`, `-n2` and `-n=2`, are equivalent.
local options = {}

-- Splits `--name=value`, `-nvalue` and `-n=value`; a known option without a value is not split.
local function split(word, known)
   if known[word] then return word end
   if word:sub(1, 2) == '--' then return word:match '^([^=]*)=?(.*)$' end
   return word:sub(1, 2), (word:sub(3):gsub('^=', ''))
end

--- Parses the options among the words of a command.
-- @param words list of strings
-- @param known option, with its dashes -> 'flag' (no value), 'text' or 'number'
-- @param mixed true: options may follow other words; else the first other word ends them
-- @return the options, as a list of {name, value} and by name (the last value if repeated),
-- and the list of the other words; or nil and the error
function options.read(words, known, mixed)
   local found, others, i = {}, {}, 1
   while words[i] do
      local word = words[i]
      i = i + 1
      if #others > 0 and not mixed or word == '-' or word:sub(1, 1) ~= '-' then
         others[#others + 1] = word
      else
         local name, value = split(word, known)
         local kind = known[name]
         if not kind then return nil, ("unknown option '%s'"):format(word) end
         if kind == 'flag' then
            if value then return nil, ("option '%s' takes no value: '%s'"):format(name, word) end
            value = true
         elseif not value then
            value = words[i]
            i = i + 1
            if not value then return nil, ("option '%s' wants a value after it"):format(name) end
         end
         if kind == 'number' and not tonumber(value) then
            return nil, ("option '%s' is '%s', wanted a number"):format(name, value)
         end
         if kind == 'number' then value = tonumber(value) end
         found[#found + 1], found[name] = {name, value}, value
      end
   end
   return found, others
end

--- Parses the options of a command whose --help (-h) prints its usage, as an invalid command line
-- does.
-- @param command its name, such as 'dpt launch'
-- @param usage its usage text
-- @return the results of options.read; or nil and the exit status
function options.command(command, usage, words, known, mixed)
   local all = {['--help'] = 'flag', ['-h'] = 'flag'}
   for name, kind in pairs(known) do all[name] = kind end
   local found, others = options.read(words, all, mixed)
   if found and not (found['--help'] or found['-h']) then return found, others end
   if found then
      io.stdout:write(usage)
      return nil, 0
   end
   return nil, options.wrong(command, usage, others)
end

--- Prints an error in a command line, and the usage. @return the exit status
function options.wrong(command, usage, why)
   io.stderr:write(command, ': ', why, '\n', usage)
   return 2
end

return options
