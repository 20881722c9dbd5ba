--- busted under the Lua that runs this file, whichever .busted names: `LUA spec/support/busted.lua
-- [FILE ...]`.
io.stdout:setvbuf 'no' -- what a process that dies has said is there
table.insert(arg, 1, '--ignore-lua')
require 'busted.runner'({standalone = false})
