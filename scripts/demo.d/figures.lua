--- figures: the figures of the demo's page: curves and bars as inline SVG.
--
-- Invariant: depends only on its arguments. Colours are CSS variables of the page's style
-- (dpt.profiler.colours), so figures follow its theme; text is at least 11 pixels high on a phone.
local figures = {}

local WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 400, 260, 66, 36, 46
local COLOURS = {'backward', 'forward', 'update', 'broadcast'} -- of series, cyclic

-- Returns a number of an axis, with a comma between thousands.
local function number(value)
   local text = ('%.6g'):format(math.abs(value) < 1e-12 and 0 or value):gsub('^%-', '\226\136\146')
   return (text:gsub('^(%d+)(%d%d%d)$', '%1,%2'))
end

-- Returns the ends of an axis and its step, for values from a to b.
local function scale(a, b)
   if a == b then b = a + 1 end
   local least = (b - a) / 4
   local power, step = 10 ^ math.floor(math.log10(least)), nil
   for _, factor in ipairs{1, 2, 5, 10} do
      if factor * power >= least * (1 - 1e-9) then
         step = factor * power
         break
      end
   end
   return step * math.floor(a / step + 1e-9), step * math.ceil(b / step - 1e-9), step
end

-- Returns a figure: {add, y}; add(format, ...) appends, y(value) is a height.
local function frame(label, yName, xName, low, high, right)
   local a, b, step = scale(low, high)
   local out, bottom = {}, HEIGHT - BOTTOM
   local self = {out = out, bottom = bottom}
   function self.add(format, ...) out[#out + 1] = format:format(...) end
   function self.y(value) return bottom - (value - a) / (b - a) * (bottom - TOP) end
   self.add('<svg viewBox="0 0 %d %d" role="img" aria-label="%s">', WIDTH, HEIGHT, label)
   self.add('<text x="0" y="14">%s</text>', yName)
   self.add('<text x="%d" y="%d" text-anchor="middle">%s</text>', (LEFT + right) / 2, HEIGHT - 6,
      xName)
   for i = 0, math.floor((b - a) / step + 0.5) do
      local value = a + i * step
      self.add('<path class="grid%s" d="M%d %.1fH%d"/>', math.abs(value) < step / 1e3 and ' zero'
         or '', LEFT, self.y(value), right)
      self.add('<text x="%d" y="%.1f" text-anchor="end">%s</text>', LEFT - 8, self.y(value) + 5,
         number(value))
   end
   return self
end

local function finish(self)
   self.add '</svg>'
   return table.concat(self.out, '\n')
end

--- Returns curves over 1, 2, ... with names at their ends. The first is the widest and each covers
-- only the middle of those before it, so curves that coincide are all visible.
-- @param label for screen readers @param yName, xName names of the axes
-- @param series list of {name, values} @param first number of the first colour (1)
function figures.curves(label, yName, xName, series, first)
   local RIGHT = WIDTH - 88
   local low, high, count = 0, 0, 0
   for _, s in ipairs(series) do
      for _, value in ipairs(s.values) do
         low, high = math.min(low, value), math.max(high, value)
      end
      count = math.max(count, #s.values)
   end
   local self = frame(label, yName, xName, low, high, RIGHT)
   local function x(k) return LEFT + (count > 1 and (k - 1) / (count - 1) or 0) * (RIGHT - LEFT) end
   local every = math.ceil(count / 8)
   for k = 1, count, every do
      self.add('<text x="%.1f" y="%d" text-anchor="middle">%d</text>', x(k), self.bottom + 20, k)
   end
   local ends = {}
   for i, s in ipairs(series) do
      local points = {}
      for k, value in ipairs(s.values) do points[k] = ('%.1f %.1f'):format(x(k), self.y(value)) end
      local style = 'stroke: var(--' .. COLOURS[(i + (first or 1) - 2) % #COLOURS + 1] .. ')'
      self.add('<path class="curve" style="%s; stroke-width: %.1f" d="M%s"/>', style,
         2.5 + (#series - i) * (#series > 2 and 3.2 or 6), table.concat(points, 'L'))
      ends[i] = {name = s.name, style = style, y = self.y(s.values[#s.values] or 0)}
   end
   table.sort(ends, function(p, q) return p.y < q.y end)
   local previous, middle = -math.huge, 0
   for _, e in ipairs(ends) do -- names at a distance, around the ends
      e.at = math.max(e.y, previous + 20)
      previous, middle = e.at, middle + (e.at - e.y) / #ends
   end
   for _, e in ipairs(ends) do
      local at = e.at - middle
      self.add('<path class="curve" style="%s" d="M%d %.1fL%d %.1fH%d"/>', e.style, RIGHT, e.y,
         RIGHT + 8, at, RIGHT + 16)
      self.add('<text class="name" x="%d" y="%.1f">%s</text>', RIGHT + 21, at + 5, e.name)
   end
   return finish(self)
end

--- Returns bars with their values, and a dash at the ideal value of each.
-- @param label, yName, xName as above
-- @param bars list of {name, value, ideal}: the value, rounded, is written in the bar
function figures.bars(label, yName, xName, bars)
   local high = 0
   for _, b in ipairs(bars) do high = math.max(high, b.value, b.ideal) end
   local self = frame(label, yName, xName, 0, high, WIDTH)
   local slot = (WIDTH - LEFT) / #bars
   local wide = math.min(72, slot * 0.6)
   for i, b in ipairs(bars) do
      local middle = LEFT + (i - 0.5) * slot
      self.add('<rect style="fill: var(--forward)" x="%.1f" y="%.1f" width="%.1f" height="%.1f" '
         .. 'rx="2"/>', middle - wide / 2, self.y(b.value), wide, self.bottom - self.y(b.value))
      self.add('<path class="ideal" d="M%.1f %.1fh%.1f"/>', middle - wide / 2 - 8,
         self.y(b.ideal), wide + 16)
      self.add('<text x="%.1f" y="%d" text-anchor="middle">%s</text>', middle, self.bottom + 20,
         b.name)
      self.add('<text class="value" style="fill: var(--forward-ink)" x="%.1f" y="%.1f" '
         .. 'text-anchor="middle">%s</text>', middle, math.min(self.y(b.value) + 20,
         self.bottom - 6), number(math.floor(b.value + 0.5)))
   end
   return finish(self)
end

--- CSS rules of the figures.
figures.STYLE = [[
<style>
.figures {display: grid; gap: 32px 40px; margin: 28px 0 8px;
  grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr))}
.figures figure {max-width: 460px}
.figures svg {display: block; width: 100%; height: auto; overflow: visible; font-size: 14px}
.figures text {fill: var(--muted)} .figures .name, .figures .value {fill: var(--text)}
.figures .value {font-weight: 650}
.figures .grid {stroke: var(--line)} .figures .zero {stroke: var(--muted)}
.figures .curve {fill: none; stroke-width: 2.5; stroke-linejoin: round}
.figures .ideal {stroke: var(--text); stroke-width: 2; stroke-dasharray: 5 4}
</style>]]

return figures
