--- dpt.util.gnuplot.plots: builds plots as gnuplot commands that contain the data.
--
-- Invariant: a function receives `draw(text, commands)`, which sets the figure's plot command
-- and returns the figure's number, followed by the arguments of the gnuplot function of the same
-- name.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local quote = require 'dpt.util.gnuplot.quote'
local fail, type = dptffi.fail, dptffi.type

local plots = {}

-- Returns the title clause of a plot.
local function titled(name) return name == '' and 'notitle' or 'title ' .. quote(name) end

local styles = {['.'] = 'points pt 7 ps 0.4', ['+'] = 'points', ['-'] = 'lines lw 2',
   ['+-'] = 'linespoints', ['~'] = 'lines smooth csplines', ['|'] = 'boxes'}

-- Returns the numbers of a tensor or a list as a list.
local function numbers(value)
   if type(value) == 'table' then return value end
   return value:double():contiguous():view(-1):totable()
end

local function isData(value)
   return torch.isTensor(value) or type(value) == 'table' and type(value[1]) == 'number'
end

-- Returns a list of plots, passed as one plot, as several tables, or as one table of plots.
local function listsOf(...)
   local words = {...}
   if #words == 1 and type(words[1]) == 'table' and type(words[1][1]) == 'table'
      and not isData(words[1][1]) then
      words = words[1]
   end
   return type(words[1]) == 'table' and not isData(words[1]) and words or {words}
end

-- Returns a curve {[name,] [x,] y [, style]} as {name, x, y, style}.
local function curve(words, fn)
   local c, data = {name = '', style = 'lines lw 2'}, {}
   for i, word in ipairs(words) do
      if type(word) == 'string' then
         if i == 1 then c.name = word else c.style = styles[word] or word:gsub('^with ', '') end
      elseif isData(word) then
         data[#data + 1] = word
      else
         fail('gnuplot.%s: got a %s, wanted {[name,] [x,] y [, style]}', fn, torch.type(word))
      end
   end
   local only = data[1]
   if only == nil then fail('gnuplot.%s: a curve has no data', fn) end
   if not data[2] and torch.isTensor(only) and only:dim() == 2 and only:size(2) == 2 then
      c.x, c.y = numbers(only:select(2, 1)), numbers(only:select(2, 2))
   elseif data[2] then
      c.x, c.y = numbers(only), numbers(data[2])
   else
      c.y, c.x = numbers(only), nil
   end
   if c.x and #c.x ~= #c.y then
      fail('gnuplot.%s: got %d x for %d y', fn, #c.x, #c.y)
   end
   return c
end

--- Draws curves. A curve is [name,] [x,] y [, style]; x and y are tensors or lists of numbers, or
-- one tensor of two columns; style is '.', '+', '-', '+-', '~' (smooth), '|' (boxes), or a gnuplot
-- style, 'with ...'.
-- @function gnuplot.plot
-- @as gnuplot
-- @param ... any: a curve; or several as tables, or one table of them
-- @return the figure's number
-- @usage type(require('gnuplot').plot('loss', torch.Tensor{3, 2, 1}, '+-')) --> number
function plots.plot(draw, ...)
   local data, parts = {}, {}
   for k, list in ipairs(listsOf(...)) do
      local c, rows = curve(list, 'plot'), {}
      for i, y in ipairs(c.y) do rows[i] = ('%.9g %.9g'):format(c.x and c.x[i] or i, y) end
      data[k] = ('$curve%d << EOD\n%s\nEOD'):format(k, table.concat(rows, '\n'))
      parts[k] = ('$curve%d using 1:2 %s %s'):format(k,
         titled(c.name),
         c.style:find 'smooth' and 'smooth csplines with lines' or 'with ' .. c.style)
   end
   return draw(table.concat(data, '\n') .. '\nplot ' .. table.concat(parts, ', '))
end

--- Draws bars.
-- @function gnuplot.bar
-- @as gnuplot
-- @param ... any: [x,] y, as for a curve of gnuplot.plot
-- @return the figure's number
-- @usage type(require('gnuplot').bar(torch.Tensor{3, 1, 2})) --> number
function plots.bar(draw, ...)
   local words = {...}
   words[#words + 1] = '|'
   return plots.plot(draw, words)
end

-- Prints a histogram with a row for each bin: its centre, its count, a bar.
local function histogramText(self)
   local most, rows = 1, {}
   for _, part in ipairs(self) do most = math.max(most, part.nb) end
   for i, part in ipairs(self) do
      local bar = ('|'):rep(math.ceil(50 * part.nb / most))
      rows[i] = ('%12.5g %9d %s'):format(part.val, part.nb, bar)
   end
   return table.concat(rows, '\n')
end

--- Counts the elements in bins of equal width. The result prints as bars.
-- @function gnuplot.histc
-- @as gnuplot
-- @param values tensor: of any size
-- @param bins? number: number of bins (72)
-- @param least? number: lower bound of the range (the smallest element)
-- @param most? number: upper bound of the range (the largest element)
-- @param raw? boolean: true: return only the counts, as a tensor
-- @return a list of {val = centre of a bin, nb = its count}, with raw = all counts as a
--    tensor, bins, binwidth, max and min = the bins with the most and fewest elements
-- @usage require('gnuplot').histc(torch.Tensor{1, 1, 2}, 2)[1].nb --> 2
function plots.histc(_, values, bins, least, most, raw)
   if not torch.isTensor(values) or values:nElement() == 0 then
      fail('gnuplot.histc: wants a tensor with elements as argument 1, got %s',
         torch.isTensor(values) and 'one without' or torch.type(values))
   end
   bins = bins or 72
   least, most = least or values:min(), most or values:max()
   local counts = torch.histc(values:double(), bins, least, most)
   if raw then return counts end
   local width = (most - least) / bins
   local h = {raw = counts, bins = bins, binwidth = width}
   for i = 1, bins do h[i] = {val = least + (i - 0.5) * width, nb = counts[i]} end
   h.max, h.min = select(2, counts:max(1))[1], select(2, counts:min(1))[1]
   return setmetatable(h, {__tostring = histogramText})
end

--- Draws a histogram with bins of equal width.
-- @function gnuplot.hist
-- @as gnuplot
-- @param values tensor: of any size
-- @param bins? number: number of bins (72)
-- @param least? number: lower bound of the range (the smallest element)
-- @param most? number: upper bound of the range (the largest element)
-- @return the result of gnuplot.histc
-- @usage require('gnuplot').hist(torch.range(1, 9), 3)[3].nb --> 3
function plots.hist(draw, values, bins, least, most)
   local h, x = plots.histc(draw, values, bins, least, most), {}
   for i, part in ipairs(h) do x[i] = part.val end
   plots.bar(draw, x, h.raw)
   return h
end

--- Draws a matrix as an image, with its first row at the top.
-- @function gnuplot.imagesc
-- @as gnuplot
-- @param matrix tensor: of two dimensions
-- @param palette? string: a gnuplot palette, such as 'color' ('gray')
-- @return the figure's number
-- @usage type(require('gnuplot').imagesc(torch.eye(3))) --> number
function plots.imagesc(draw, matrix, palette)
   local rows = {}
   for i, row in ipairs(matrix:double():totable()) do rows[i] = table.concat(row, ' ') end
   return draw('$image << EOD\n' .. table.concat(rows, '\n')
      .. '\nEOD\nplot $image matrix with image notitle',
      ('set palette %s\nset yrange [*:*] reverse'):format(palette or 'gray'))
end

-- Returns {[name,] z} or {[name,] x, y, z}, tensors with this number of dimensions, as {name, x, y,
-- z}.
local function solid(words, fn, dimensions)
   local s, data = {name = ''}, {}
   for i, word in ipairs(words) do
      if type(word) == 'string' and i == 1 then s.name = word
      else data[#data + 1] = word end
   end
   for _, t in ipairs(data) do
      if not torch.isTensor(t) or t:dim() ~= dimensions or not t:isSameSizeAs(data[1]) then
         fail('gnuplot.%s: got %s, wanted tensors of %d dimensions and one size', fn,
            torch.isTensor(t) and 'a tensor of size ' .. table.concat(t:size():totable(), 'x')
            or 'a ' .. torch.type(t), dimensions)
      end
   end
   if #data ~= 3 and (#data ~= 1 or dimensions == 1) then
      fail('gnuplot.%s: got %d tensors, wanted {[name,] %s}', fn, #data,
         dimensions == 1 and 'x, y, z' or 'z} or {[name,] x, y, z')
   end
   s.x, s.y, s.z = data[3] and data[1], data[2], data[3] or data[1]
   return s
end

-- Draws all surfaces or sets of points; `row(s, i)` returns the lines of slice i.
local function solids(draw, fn, dimensions, style, row, ...)
   local data, parts = {}, {}
   for k, list in ipairs(listsOf(...)) do
      local s, rows = solid(list, fn, dimensions), {}
      for i = 1, s.z:size(1) do rows[i] = row(s, i) end
      data[k] = ('$solid%d << EOD\n%s\nEOD'):format(k, table.concat(rows, '\n'))
      parts[k] = ('$solid%d using 1:2:3 %s with %s'):format(k,
         titled(s.name), style)
   end
   return draw(table.concat(data, '\n') .. '\nsplot ' .. table.concat(parts, ', '),
      'set contour base\nset hidden3d')
end

--- Draws surfaces, with contours on their base. A surface is [name,] z or [name,] x, y, z: matrices
-- of the same size; x and y default to row and column numbers.
-- @function gnuplot.splot
-- @as gnuplot
-- @param ... any: a surface; or several as tables, or one table of them
-- @return the figure's number
-- @usage type(require('gnuplot').splot(torch.rand(4, 5))) --> number
function plots.splot(draw, ...)
   return solids(draw, 'splot', 2, 'lines', function(s, i)
      local lines = {}
      for j = 1, s.z:size(2) do
         lines[j] = ('%.9g %.9g %.9g'):format(s.x and s.x[i][j] or i, s.y and s.y[i][j] or j,
            s.z[i][j])
      end
      return table.concat(lines, '\n') .. '\n' -- an empty line ends a row
   end, ...)
end

--- Draws points in 3-D: [name,] x, y, z, vectors of the same size.
-- @function gnuplot.scatter3
-- @as gnuplot
-- @param ... any: x, y and z; or several such sets as tables, or one table of them
-- @return the figure's number
-- @usage type(require('gnuplot').scatter3(torch.rand(9), torch.rand(9), torch.rand(9))) --> number
function plots.scatter3(draw, ...)
   return solids(draw, 'scatter3', 1, 'points', function(s, i)
      return ('%.9g %.9g %.9g'):format(s.x[i], s.y[i], s.z[i])
   end, ...)
end

return plots
