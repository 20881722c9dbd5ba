--- dpt.util.trepl: the parts of Torch7's trepl that scripts use; the prompt is in dpt.launcher.
--
-- Invariant: colours are escape codes even if stdout is no terminal, as in trepl.
local COLORS = require('dpt.util.sys').COLORS

local trepl = {}

--- Escape codes (require 'trepl.colors'): those of sys.COLORS, and terminal modes.
-- @field trepl.colors
-- @as xlua
-- @follows Torch7's package trepl
-- @also trepl.colors.Black
-- @also trepl.colors.Blue
-- @also trepl.colors.Cyan
-- @also trepl.colors.Green
-- @also trepl.colors.Magenta
-- @also trepl.colors.Red
-- @also trepl.colors.White
-- @also trepl.colors.Yellow
-- @also trepl.colors.black
-- @also trepl.colors.blink
-- @also trepl.colors.blue
-- @also trepl.colors.bright
-- @also trepl.colors.cyan
-- @also trepl.colors.dim
-- @also trepl.colors.green
-- @also trepl.colors.hidden
-- @also trepl.colors.magenta
-- @also trepl.colors.none
-- @also trepl.colors.red
-- @also trepl.colors.reverse
-- @also trepl.colors.underline
-- @also trepl.colors.white
-- @also trepl.colors.yellow
-- @return a table: name -> string
-- @usage require('trepl').colors.bright:sub(2) --> [1m
trepl.colors = {bright = '\27[1m', dim = '\27[2m', underline = '\27[4m', blink = '\27[5m',
   reverse = '\27[7m', hidden = '\27[8m'}
for name, code in pairs(COLORS) do trepl.colors[name] = code end

--- Functions that colour a string, one per escape code (require 'trepl.colorize').
-- @field trepl.colorize
-- @as xlua
-- @follows Torch7's package trepl
-- @also trepl.colorize.Black()
-- @also trepl.colorize.Blue()
-- @also trepl.colorize.Cyan()
-- @also trepl.colorize.Green()
-- @also trepl.colorize.Magenta()
-- @also trepl.colorize.Red()
-- @also trepl.colorize.White()
-- @also trepl.colorize.Yellow()
-- @also trepl.colorize.black()
-- @also trepl.colorize.blink()
-- @also trepl.colorize.blue()
-- @also trepl.colorize.bright()
-- @also trepl.colorize.cyan()
-- @also trepl.colorize.dim()
-- @also trepl.colorize.green()
-- @also trepl.colorize.hidden()
-- @also trepl.colorize.magenta()
-- @also trepl.colorize.none()
-- @also trepl.colorize.red()
-- @also trepl.colorize.reverse()
-- @also trepl.colorize.underline()
-- @also trepl.colorize.white()
-- @also trepl.colorize.yellow()
-- @return a table: name -> function that returns a string in that colour
-- @usage #require('trepl').colorize.red 'text' --> 15
trepl.colorize = {}
for name, code in pairs(trepl.colors) do
   trepl.colorize[name] = function(text) return code .. text .. COLORS.none end
end

return trepl
