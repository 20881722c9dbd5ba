--- dpt.util.trepl: what scripts use of Torch7's trepl; its prompt is dpt's own (dpt.launcher).
--
-- Invariant: colours are escape codes also where stdout is no terminal, as trepl's were.
local COLORS = require('dpt.util.sys').COLORS

local trepl = {}

--- Escape codes (require 'trepl.colors'): those of sys.COLORS, and modes of a terminal.
trepl.colors = {bright = '\27[1m', dim = '\27[2m', underline = '\27[4m', blink = '\27[5m',
   reverse = '\27[7m', hidden = '\27[8m'}
for name, code in pairs(COLORS) do trepl.colors[name] = code end

--- A function for each of them that colours a text (require 'trepl.colorize').
trepl.colorize = {}
for name, code in pairs(trepl.colors) do
   trepl.colorize[name] = function(text) return code .. text .. COLORS.none end
end

return trepl
