--- Runs busted with the Lua that runs this file, whichever .busted names: `LUA
-- spec/support/busted.lua [FILE ...]`.
io.stdout:setvbuf 'no' -- keeps the output of a process that dies
table.insert(arg, 1, '--ignore-lua')
require 'busted.runner'({standalone = false})
