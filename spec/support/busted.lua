--- Runs busted under the Lua that runs this file: `luajit spec/support/busted.lua [FILE ...]`.
-- The command `busted` may start under another Lua, which has no FFI.
require 'busted.runner'({standalone = false})
