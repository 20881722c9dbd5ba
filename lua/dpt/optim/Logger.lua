--- optim.Logger(filename, timestamp): writes a table of numbers to a text file, one row per add.
-- Invariant: when add returns, the operating system has the row; otherwise add raises. Names are
-- written first, from setNames or from the first row's keys. Numbers are written with five digits.
-- symbols (the values of a column), styles and names are indexed by the column's number after
-- setNames, otherwise by its key in the first row; `order` lists these in the order of the file. A
-- failing plot never ends a program.

local torch = require 'dpt.tensor'
local paths = require 'dpt.util.paths'
local output = require 'dpt.output'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local Logger = torch.class('optim.Logger')

--- Writes a table of numbers to a text file, one row per add; the file is always up to date.
-- @function optim.Logger
-- @as optimtool
-- @param filename? string: path of the file; its folder is created if it is missing (stdout)
-- @param timestamp? boolean: true appends the time to the file's name
-- @return a logger
-- @usage local name = os.tmpname()
--    optim.Logger(name):setNames{'loss'}:add{0.5}
--    local text = paths.execute('cat ' .. name)
--    os.remove(name)
--    return (text:gsub('%s+$', ''):gsub('%s+', ' ')) --> loss 5.0000e-01
function Logger:__init(filename, timestamp)
   if filename then
      self.name = filename
      self.epsfile, self.svgfile = filename .. '.eps', filename .. '.svg'
      if timestamp then filename = filename .. '-' .. os.date('%Y_%m_%d_%X') end
      paths.mkdir(paths.dirname(filename))
      self.file, self.path = output.log('optim.Logger', filename, 'w'), filename
   else
      self.file, self.path = io.stdout, 'the standard output'
      self.name = 'stdout'
      print('<Logger> warning: no path provided, logging to std out')
   end
   self.empty = true
   self.symbols = {}
   self.styles = {}
   self.names = {}
   self.idx = {}
   self.order = {}
   self.figure = nil
   self.showPlot = true
   self.plotRawCmd = nil
   self.defaultStyle = '+'
   self.logscale = false
end

local function write(self, words)
   words[#words + 1] = ''
   output.add('optim.Logger', self.path, self.file, table.concat(words, '\t') .. '\n')
   return self
end

-- Writes the names of the columns; key -> name.
-- @param idx name -> key
local function beginColumns(self, names, idx)
   self.empty = false
   self.names, self.idx, self.nsymbols = names, idx, #names
   local words = {}
   for key, name in pairs(names) do
      words[#words + 1] = tostring(name)
      self.symbols[key] = {}
      self.styles[key] = {self.defaultStyle}
      table.insert(self.order, key)
   end
   return write(self, words)
end

--- Names the columns and writes them.
-- @function optim.Logger:setNames
-- @as optimtool
-- @param names table: a list of strings
-- @return the logger
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name):setNames{'a', 'b'}
--    os.remove(name)
--    return l.names --> {a b}
function Logger:setNames(names)
   local idx = {}
   for i, name in ipairs(names) do idx[name] = i end
   return beginColumns(self, names, idx)
end

-- Returns the key of a column that a script names.
local function keyOf(self, name)
   local key = self.idx[name] or name
   return self.symbols[key] and key or fail('optim.Logger: there is no column %s', tostring(name))
end

--- Adds a row: a list of values, or a table name -> value. Values may be missing: the file has an
-- empty column for a value missing before the last one, and nothing after the last one.
-- @function optim.Logger:add
-- @as optimtool
-- @param symbols table: a list of values, or name -> value
-- @return the logger
-- @raise if there is no such column, or the row cannot be written; the error names the file
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name):add{loss = 2}
--    os.remove(name)
--    return l.symbols.loss --> {2}
function Logger:add(symbols)
   if self.empty then
      local names = {}
      for name in pairs(symbols) do names[name] = name end
      beginColumns(self, names, names)
   end
   local row = {}
   for name, value in pairs(symbols) do row[keyOf(self, name)] = value end
   local last = #self.order
   while last > 0 and row[self.order[last]] == nil do last = last - 1 end
   local words = {}
   for i = 1, last do
      local key = self.order[i]
      local value = row[key]
      table.insert(self.symbols[key], value)
      words[i] = value == nil and '' or type(value) == 'number' and ('%11.4e'):format(value)
         or tostring(value)
   end
   return write(self, words)
end

--- Sets line styles for plots, one per column.
-- @function optim.Logger:style
-- @as optimtool
-- @param styles table: a list of styles of gnuplot.plot, such as '-'; or name -> style
-- @return the logger
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name):setNames{'a'}:style{'-'}
--    os.remove(name)
--    return l.styles --> {{-}}
function Logger:style(styles)
   for i, style in pairs(styles) do
      self.styles[self.idx[i] or i] = type(style) == 'table' and style or {style}
   end
   return self
end

--- Sets whether plots have a logarithmic axis.
-- @function optim.Logger:setlogscale
-- @as optimtool
-- @param state boolean: true enables it
-- @return nothing
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name)
--    local before = l.logscale
--    l:setlogscale(true)
--    os.remove(name)
--    return before, l.logscale --> false, true
function Logger:setlogscale(state)
   self.logscale = state
end

--- In Torch7, sets whether plot also opens a window. Here there are no windows.
-- @function optim.Logger:display
-- @as optimtool
-- @param state boolean: stored only
-- @return nothing
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name)
--    local before = l.showPlot
--    l:display(false)
--    os.remove(name)
--    return before, l.showPlot --> true, false
function Logger:display(state)
   self.showPlot = state
end

-- Returns a list {name, values, style} for each selected column (default: all) that has two or more
-- numbers.
local function curves(self, names)
   local list = {}
   for _, name in ipairs(#names > 0 and names or self.order) do
      local key = keyOf(self, name)
      local values = self.symbols[key]
      if type(values[1]) == 'number' and #values > 1 then
         for _, style in ipairs(self.styles[key]) do
            list[#list + 1] = {tostring(self.names[key]), torch.DoubleTensor(values), style}
         end
      end
   end
   return list
end

-- Prints once why there are no plots.
local function warn(self, why)
   if not self.warned then io.stderr:write('optim.Logger: cannot plot: ' .. why .. '\n') end
   self.warned = true
end

-- Returns the package gnuplot: the one on LUA_PATH, or dpt's.
local function package_() return select(2, pcall(require, 'gnuplot')) end

-- Returns the names of the columns of a list of curves, without duplicates.
local function columnsOf(list)
   local names = {}
   for _, curve in ipairs(list) do
      if curve[1] ~= names[#names] then names[#names + 1] = curve[1] end
   end
   return names
end

-- Finishes a plot and writes its file.
local function picture(self, gnuplot, list, number)
   local names = columnsOf(list)
   gnuplot.figure(number)
   if self.logscale then gnuplot.logscale('on') end
   gnuplot.plot(list)
   if self.plotRawCmd then gnuplot.raw(self.plotRawCmd) end
   gnuplot.grid('on')
   gnuplot.title(table.concat(names, ', ') .. ' in ' .. paths.basename(self.name))
   gnuplot.xlabel 'row'
   gnuplot.ylabel(#names == 1 and names[1] or 'value')
   gnuplot.plotflush()
   gnuplot.close(number)
end

--- Plots all columns of numbers, or the named ones, against the row, to files NAME.svg (for
-- browsers) and NAME.eps (which Torch7 writes). The fields svgfile and epsfile are their paths; nil
-- disables a file. plotRawCmd is a gnuplot command for both, such as 'set xlabel "epoch"'. Failures
-- are reported once, in a line on stderr.
-- @function optim.Logger:plot
-- @as optimtool
-- @param ...? string: names of columns (all)
-- @return nothing
-- @usage local name = os.tmpname()
--    local l = optim.Logger(name):setNames{'a'}
--    l:plot()
--    l:plot 'a'
--    os.remove(name)
function Logger:plot(...)
   local list = curves(self, {...})
   if #list == 0 then return end
   local ok, why = pcall(function()
      local gnuplot = package_()
      if self.svgfile then picture(self, gnuplot, list, gnuplot.svgfigure(self.svgfile)) end
      if self.epsfile then picture(self, gnuplot, list, gnuplot.epsfigure(self.epsfile)) end
   end)
   if not ok then warn(self, tostring(why)) end
end

-- Returns the numbers of a column of a file written by a logger.
local function readColumn(path, column)
   local file, why = io.open(path)
   if not file then fail('optim.Logger: cannot read: %s', why) end
   local place, values, i = nil, {}, 0
   for name in (file:read '*l' or ''):gmatch '([^\t]*)\t' do
      i = i + 1
      if name == column then place = i end
   end
   if not place then fail('optim.Logger: %s has no column %s', path, tostring(column)) end
   for line in file:lines() do
      local k = 0
      for value in line:gmatch '([^\t]*)\t' do
         k = k + 1
         if k == place then values[#values + 1] = tonumber(value) end
      end
   end
   file:close()
   return values
end

-- Colours of the curves of several runs, used cyclically.
local COLOURS = {'#f2a65a', '#1f5fa8', '#3a9d5d', '#222222'}

-- Returns the style of curve i of several. Each is narrower than those before it and all but the
-- first are dashed, so curves that coincide are all visible.
local function styleOf(i, count)
   return ("with lines lw %d dt %d lc rgb '%s'"):format(2 + 4 * (count - i), math.min(i, 2),
      COLOURS[(i - 1) % #COLOURS + 1])
end

--- Plots a column of several runs against the row. Curves that coincide are all visible.
-- @function optim.Logger.compare
-- @as optimtool
-- @follows dpt's own
-- @also optim.Logger:compare()
-- @param path string: output file, which ends in .svg, .png, .eps or .pdf
-- @param column string: name of the column
-- @param runs table: a list of {name, file written by a logger}
-- @param row? string: label of the axis, such as 'epoch' ('row')
-- @return true if the plot was written
-- @usage (pcall(optim.Logger.compare, 'x.svg', 'loss', {{'first', '/nosuchfile'}})) --> false
function Logger.compare(path, column, runs, row)
   local kind = path:match '%.(%l+)$'
   local list, gnuplot = {}, package_()
   local begin = gnuplot[(kind or '') .. 'figure']
   if not begin then
      fail('optim.Logger: got %s, wanted a path that ends with .svg or .png', path)
   end
   for i, run in ipairs(runs) do
      list[i] = {run[1], readColumn(run[2], column), styleOf(i, #runs)}
   end
   local number = begin(path)
   gnuplot.plot(list)
   gnuplot.title(column .. ' by ' .. (row or 'row'))
   gnuplot.xlabel(row or 'row')
   gnuplot.ylabel(column)
   gnuplot.grid('on')
   local drawn = gnuplot.plotflush(number)
   gnuplot.close(number)
   return drawn
end

--- Tags that reference entries of optim's tools share.
-- @pattern optimtool
-- @within optim
-- @follows Torch7's package optim
-- @raise if an argument has the wrong type; the error names the line of the script

return Logger
