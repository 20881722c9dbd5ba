--- gnuplot: Torch7's plots, drawn to files by the program gnuplot (Debian's gnuplot-nox).
--
-- Invariant: nothing here ends a program: if gnuplot is missing or fails, a line on stderr
-- says so, once for each reason, and the file is unchanged. A figure is a list of gnuplot
-- commands; plotflush and close replace its file as a whole. There are no windows: a figure
-- without a file is not drawn.
local dptffi = require 'dpt.ffi'
local output = require 'dpt.output'
local plots = require 'dpt.util.gnuplot.plots'
local quote = require 'dpt.util.gnuplot.quote'
local fail, type = dptffi.fail, dptffi.type

local gnuplot = {}

local program = 'gnuplot'
local figures, current = {}, nil
local said = {}

-- Reports once why there is no picture.
local function say(why)
   why = why:gsub('^.-gnuplot: ', '') -- prefix of a message of dpt.output
   if not said[why] then io.stderr:write('gnuplot: no picture is drawn: ', why, '\n') end
   said[why] = true
end

-- figures -----------------------------------------------------------------------------------------

local terminals = {svg = 'svg size 600,420 dynamic font ",16" background rgb "white"',
   png = 'pngcairo size 800,500', eps = 'postscript eps color', pdf = 'pdfcairo'}

local function figure(kind, path)
   if path ~= nil and type(path) ~= 'string' then
      fail("gnuplot.%sfigure: argument 'path' is a %s, wanted a string", kind, type(path))
   end
   current = {kind = kind, path = path, settings = {}, plot = nil, number = #figures + 1}
   figures[current.number] = current
   return current.number
end

--- Creates a figure in a file of the format that the function is named after.
-- @function gnuplot.svgfigure
-- @as gnuplot
-- @also gnuplot.pngfigure()
-- @also gnuplot.epsfigure()
-- @also gnuplot.pdffigure()
-- @param path string: of the file
-- @return the figure's number
-- @usage type(require('gnuplot').svgfigure(os.tmpname())) --> number
function gnuplot.svgfigure(path) return figure('svg', path) end
function gnuplot.pngfigure(path) return figure('png', path) end
function gnuplot.epsfigure(path) return figure('eps', path) end
function gnuplot.pdffigure(path) return figure('pdf', path) end

--- Makes figure n the current one, or creates one without a file, which is not drawn.
-- @function gnuplot.figure
-- @as gnuplot
-- @param n? number: number of a figure
-- @return the figure's number
-- @usage local gnuplot = require 'gnuplot'
--    local n = gnuplot.figure()
--    return gnuplot.figure() - n, gnuplot.figure(n) - n --> 1, 0
function gnuplot.figure(n)
   if n and figures[n] then
      current = figures[n]
      return n
   end
   return figure 'no'
end

local function own()
   if not current then figure 'no' end
   return current
end

local function set(name, text) own().settings[name] = text end

--- Sets the title of the plot.
-- @function gnuplot.title
-- @as gnuplot
-- @param text string: any
-- @return nothing
-- @usage require('gnuplot').title 'The loss'
function gnuplot.title(text) set('title', 'set title ' .. quote(text)) end

--- Sets the label of the axis that the function is named after.
-- @function gnuplot.xlabel
-- @as gnuplot
-- @also gnuplot.ylabel()
-- @also gnuplot.zlabel()
-- @param text string: any
-- @return nothing
-- @usage require('gnuplot').ylabel 'loss'
function gnuplot.xlabel(text) set('xlabel', 'set xlabel ' .. quote(text)) end
function gnuplot.ylabel(text) set('ylabel', 'set ylabel ' .. quote(text)) end
function gnuplot.zlabel(text) set('zlabel', 'set zlabel ' .. quote(text)) end

--- Enables or disables grid lines.
-- @function gnuplot.grid
-- @as gnuplot
-- @param on boolean: or 'on' or 'off'
-- @return nothing
-- @usage require('gnuplot').grid(true)
function gnuplot.grid(on) set('grid', on and on ~= 'off' and 'set grid' or 'unset grid') end

--- Makes axes logarithmic.
-- @function gnuplot.logscale
-- @as gnuplot
-- @param axes? string: 'x', 'y' or both (default: all); 'off' for none
-- @return nothing
-- @usage require('gnuplot').logscale 'y'
function gnuplot.logscale(axes)
   if axes == 'off' then return set('logscale', 'unset logscale') end
   set('logscale', 'set logscale ' .. (axes and axes ~= 'on' and axes or ''))
end

--- Moves the legend.
-- @function gnuplot.movelegend
-- @as gnuplot
-- @param ... string: positions such as 'left', 'bottom'
-- @return nothing
-- @usage require('gnuplot').movelegend('left', 'top')
function gnuplot.movelegend(...) set('key', 'set key ' .. table.concat({...}, ' ')) end

--- Sets the ranges of the axes.
-- @function gnuplot.axis
-- @as gnuplot
-- @param range table: {from, to, from, to}, '' for one that gnuplot chooses; or a string: 'equal',
--    'image': one scale for both axes, 'fill': fill the picture, 'auto': the defaults
-- @return nothing
-- @usage require('gnuplot').axis{0, 1, '', ''}
function gnuplot.axis(range)
   if type(range) ~= 'table' then
      return set('axis', range == 'auto' and 'set size nosquare\nset autoscale'
         or range == 'fill' and 'set size noratio' or 'set size ratio -1')
   end
   local function part(i) return tostring(range[i] or ''):gsub('^$', '*') end
   set('axis', ('set xrange [%s:%s]\nset yrange [%s:%s]'):format(part(1), part(2), part(3),
      part(4)))
end

-- Sets the figure's plot command, and the gnuplot commands before it.
local function draw(text, commands)
   local f = own()
   f.plot, f.settings.plot = text, commands
   return f.number
end
for name, plot in pairs(plots) do
   gnuplot[name] = function(...) return plot(draw, ...) end
end

--- Adds a gnuplot command before the plot.
-- @function gnuplot.raw
-- @as gnuplot
-- @param text string: the command
-- @return nothing
-- @usage require('gnuplot').raw 'set key off'
function gnuplot.raw(text)
   local settings = own().settings
   settings.raw = (settings.raw and settings.raw .. '\n' or '') .. text
end

-- files -------------------------------------------------------------------------------------------

-- Returns true if a shell command exits with status 0, which Lua 5.1 and 5.2 report differently.
local function succeeds(command)
   local status = os.execute(command)
   return status == 0 or status == true
end

local ORDER = {'title', 'xlabel', 'ylabel', 'zlabel', 'grid', 'logscale', 'key', 'axis', 'plot',
   'raw'}

-- Returns the picture that gnuplot draws by a string of commands; nil and the reason on failure.
-- The picture is read from a pipe: gnuplot itself does not notice a full disk.
local function drawn(text)
   local name = os.tmpname()
   local ok, picture, why = pcall(function()
      output.replace('gnuplot', name, text)
      local pipe = io.popen(("%s '%s' 2>'%s.log'; printf ' %%d' $?"):format(program, name, name))
      local bytes, status = pipe:read '*a':match '^(.*) (%d+)$'
      pipe:close()
      if status == '0' and bytes ~= '' then return bytes end
      local log = io.open(name .. '.log')
      local reason = log:read '*a':gsub('%s+', ' '):gsub('^.-line %d+: ', ''):gsub(' $', '')
      log:close()
      return nil, ('%s ends with status %s: %s'):format(program, status, reason)
   end)
   os.remove(name)
   os.remove(name .. '.log')
   if not ok then return nil, picture end
   return picture, why
end

--- Writes the file of a figure.
-- @function gnuplot.plotflush
-- @as gnuplot
-- @param n? number: of the figure (the current one)
-- @return true if a picture was written
-- @usage local gnuplot = require 'gnuplot'
--    gnuplot.figure() -- without a file
--    return gnuplot.plotflush() --> false
function gnuplot.plotflush(n)
   local f = n and figures[n] or current
   if not f or not f.plot then return false end
   if not f.path then
      say 'windows are not supported; create the figure with gnuplot.svgfigure or pngfigure(path)'
      return false
   end
   if not succeeds(('command -v %s >/dev/null 2>&1'):format(program)) then
      say(('there is no %s (apt-get install gnuplot-nox)'):format(program))
      return false
   end
   local lines = {'set terminal ' .. terminals[f.kind], 'set termoption noenhanced'}
   for _, name in ipairs(ORDER) do lines[#lines + 1] = f.settings[name] end
   lines[#lines + 1] = f.plot .. '\n'
   local picture, why = drawn(table.concat(lines, '\n'))
   local ok = picture ~= nil
   if ok then ok, why = pcall(output.replace, 'gnuplot', f.path, picture) end
   if not ok then say(why) end
   return ok
end

--- Writes the current figure to another file, in the format of its extension.
-- @function gnuplot.figprint
-- @as gnuplot
-- @param path string: of the file: .eps, .pdf, .png or .svg
-- @return true if a picture was written
-- @usage local gnuplot = require 'gnuplot'
--    gnuplot.figure() -- with nothing drawn
--    return gnuplot.figprint 'loss.png' --> false
function gnuplot.figprint(path)
   local kind = type(path) == 'string' and path:match '%.(%a+)$'
   if not terminals[kind] then
      fail("gnuplot.figprint: argument 'path' is %s, wanted a name that ends in .eps, .pdf, .png or"
         .. ' .svg', type(path) == 'string' and "'" .. path .. "'" or 'a ' .. type(path))
   end
   local f = own()
   local before, other = f.path, f.kind
   f.path, f.kind = path, kind
   local ok = gnuplot.plotflush()
   f.path, f.kind = before, other
   return ok
end

--- Writes the file of figure n and deletes the figure.
-- @function gnuplot.close
-- @as gnuplot
-- @param n? number: of the figure (the current one)
-- @return nothing
-- @usage local gnuplot = require 'gnuplot'
--    local n = gnuplot.figure()
--    gnuplot.close(n)
--    return gnuplot.figure(n) - n --> 1
function gnuplot.close(n)
   n = n or current and current.number
   if not n or not figures[n] then return end
   gnuplot.plotflush(n)
   if current == figures[n] then current = nil end
   figures[n] = false
end

--- Writes the files of all figures and deletes the figures.
-- @function gnuplot.closeall
-- @as gnuplot
-- @return nothing
-- @usage local gnuplot = require 'gnuplot'
--    local n = gnuplot.figure()
--    gnuplot.closeall()
--    return gnuplot.figure(n) - n --> 1
function gnuplot.closeall()
   for n = 1, #figures do gnuplot.close(n) end
end

--- Sets the gnuplot program.
-- @function gnuplot.setgnuplotexe
-- @as gnuplot
-- @param path string: of the program
-- @return nothing
-- @usage require('gnuplot').setgnuplotexe 'gnuplot'
function gnuplot.setgnuplotexe(path) program, said = path, {} end

--- Does nothing: there are no interactive terminals.
-- @function gnuplot.setgnuplotterminal
-- @as gnuplot
-- @also gnuplot.setterm()
-- @param name? string: ignored
-- @return nothing
-- @usage require('gnuplot').setterm 'x11'
function gnuplot.setgnuplotterminal() end
gnuplot.setterm = gnuplot.setgnuplotterminal

--- Tags shared by the reference entries of gnuplot.
-- @pattern gnuplot
-- @within gnuplot
-- @follows Torch7's package gnuplot
-- @raise if the arguments cannot be plotted; if there is no program gnuplot, a line on stderr says
--    so once

return gnuplot
