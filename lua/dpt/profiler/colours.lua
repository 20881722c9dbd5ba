--- dpt.profiler.colours: the colours of pages and pictures, and the meaning of each phase.
--
-- Invariant: both themes have the same names. A phase has a contrast of 3 or more with the
-- background, its ink one of 4.5 or more with the phase, and text and muted text one of 4.5 or more
-- with background and panel (WCAG 2, level AA). Phases are distinguishable side by side, also with
-- deuteranopia, protanopia and tritanopia; waits are hatched as well.
local colours = {
   order = {'broadcast', 'scatter', 'forward', 'gather', 'criterion', 'backward', 'reduce',
      'update', 'other', 'wait'},
   meanings = {
      broadcast = 'parameters are copied to the other devices',
      scatter = 'each device gets its part of the batch',
      forward = 'layers compute their outputs',
      gather = 'outputs are copied to one device',
      criterion = 'the loss and its gradient',
      backward = 'layers compute gradients',
      reduce = 'gradients are summed over devices',
      update = 'the optimizer changes the parameters',
      other = 'work of no phase',
      wait = 'waiting for another stream or device',
   },
   light = {
      background = '#ffffff', panel = '#f6f8fa', line = '#d1d9e0', text = '#1f2328',
      muted = '#59636e', accent = '#0860ca',
      broadcast = '#7731ad', scatter = '#107b7d', forward = '#3c68da', gather = '#5f3a0a',
      criterion = '#756700', backward = '#e56d1f', reduce = '#b9063f', update = '#2c9f5f',
      other = '#414a5b', wait = '#868f99',
   },
   dark = {
      background = '#0d1117', panel = '#161b22', line = '#3d444d', text = '#e6edf3',
      muted = '#9aa3ad', accent = '#6cb6ff',
      broadcast = '#9a50d0', scatter = '#50dde6', forward = '#58a6ff', gather = '#a77538',
      criterion = '#f1e14e', backward = '#f59d3d', reduce = '#f1486c', update = '#8ddc90',
      other = '#b2b7b8', wait = '#6e7681',
   },
}

-- Returns the relative luminance of a colour, 0 to 1.
local function luminance(colour)
   local weights, sum = {0.2126, 0.7152, 0.0722}, 0
   for k, weight in ipairs(weights) do
      local c = tonumber(colour:sub(2 * k, 2 * k + 1), 16) / 255
      sum = sum + weight * (c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4)
   end
   return sum
end

--- Returns the contrast of two colours, 1 to 21, as defined by WCAG 2.
-- @param a, b colours as '#rrggbb'
function colours.contrast(a, b)
   local x, y = luminance(a) + 0.05, luminance(b) + 0.05
   return math.max(x, y) / math.min(x, y)
end

--- Returns the colour of text on a background: near black or white, whichever has more contrast.
function colours.ink(background)
   local dark, light = '#0b0e12', '#ffffff'
   return colours.contrast(background, dark) > colours.contrast(background, light) and dark or light
end

--- Returns a theme as variables of CSS: --NAME, and --NAME-ink of each phase.
-- @param theme colours.light or colours.dark
function colours.variables(theme)
   local list = {}
   local function add(name, colour) list[#list + 1] = ('--%s: %s;'):format(name, colour) end
   for _, name in ipairs{'background', 'panel', 'line', 'text', 'muted', 'accent'} do
      add(name, theme[name])
   end
   for _, name in ipairs(colours.order) do
      add(name, theme[name])
      add(name .. '-ink', colours.ink(theme[name]))
   end
   return table.concat(list, ' ')
end

return colours
