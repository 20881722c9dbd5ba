-- Pages and pictures of profiles: their text. The step `browser` opens them.
local timeline = require 'dpt.profiler.timeline'
local colours = require 'dpt.profiler.colours'

-- Writes a profile with the items {pid, cat, ts, dur, module, name} and reads it.
local function profile(items, started)
   local path = os.tmpname()
   local file = io.open(path, 'w')
   local list = {'{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"device 1"}}',
      '{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"stream 0"}}'}
   for _, i in ipairs(items) do
      list[#list + 1] = ('{"ph":"X","pid":%d,"tid":0,"cat":"%s","ts":%d,"dur":%d,"name":"%s",'
         .. '"args":{"kind":"kernel","module":"%s","class":"nn.A"}}'):format(i[1], i[2], i[3],
         i[4], i[6] or 'work', i[5] or '')
   end
   file:write('{"otherData":{"started":', started or 0, '},"traceEvents":[',
      table.concat(list, ','), ']}')
   file:close()
   local p = timeline.read(path)
   os.remove(path)
   return p
end

local items = {{1, 'forward', 0, 1000, '1'}, {1, 'backward', 1000, 3000, '1'},
   {2, 'reduce', 2000, 500, '2.1', 'sum </script><b>&'}}

-- Returns the components of a colour, 0 to 1, in linear light (sRGB).
local function linear(colour)
   local parts = {}
   for k = 1, 3 do
      local c = tonumber(colour:sub(2 * k, 2 * k + 1), 16) / 255
      parts[k] = c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4
   end
   return parts
end

-- Kinds of sight as matrices of linear light: Machado, Oliveira and Fernandes, "A physiologically
-- based model for simulation of color vision deficiency" (2009), severity 1.
local SIGHTS = {
   all = {1, 0, 0, 0, 1, 0, 0, 0, 1},
   protanopia = {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116,
      1.051998},
   deuteranopia = {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820,
      0.042940, 0.968881},
   tritanopia = {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367,
      0.303900},
}

-- Returns the distance of two colours in CIELAB (1976), as a kind of sight sees them; 2.3 is barely
-- visible.
local function distance(a, b, sight)
   local m = SIGHTS[sight or 'all']
   local function lab(colour)
      local p, seen = linear(colour), {}
      for k = 1, 3 do
         local sum = 0
         for i = 1, 3 do sum = sum + m[3 * k - 3 + i] * p[i] end
         seen[k] = math.min(math.max(sum, 0), 1)
      end
      local red, green, blue = unpack(seen)
      local function f(t) return t > 0.008856 and t ^ (1 / 3) or 7.787 * t + 16 / 116 end
      local x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505)
      local y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue)
      local z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
      return {116 * y, 500 * (x - y), 200 * (y - z)}
   end
   local sum, p, q = 0, lab(a), lab(b)
   for i = 1, 3 do sum = sum + (p[i] - q[i]) ^ 2 end
   return math.sqrt(sum)
end

describe('The colours', function()
   it('have the contrasts of WCAG 2, level AA, in both themes', function()
      assert.is_true(math.abs(colours.contrast('#ffffff', '#000000') - 21) < 1e-9)
      assert.is_true(math.abs(colours.contrast('#777777', '#ffffff') - 4.478) < 1e-3)
      -- those of the page itself, from its variables
      local page, themes = timeline.page{profile(items)}, 0
      for block in page:gmatch ':root {color%-scheme: %l+; ([^}]*)}' do
         local theme = {}
         for name, colour in block:gmatch '%-%-([%w-]+): (#%x+);' do theme[name] = colour end
         for _, ground in ipairs{'background', 'panel'} do
            for _, name in ipairs{'text', 'muted', 'accent'} do
               assert.is_true(colours.contrast(theme[name], theme[ground]) >= 4.5, name)
            end
            for _, name in ipairs(colours.order) do
               assert.is_true(colours.contrast(theme[name], theme[ground]) >= 3, name)
               assert.is_true(colours.contrast(theme[name], theme[name .. '-ink']) >= 4.5, name)
            end
         end
         themes = themes + 1
      end
      assert.equal(2, themes)
   end)

   it('of phases differ clearly from each other, also for colour-blind readers', function()
      assert.is_true(distance('#76b7b2', '#86bcb6') < 5) -- hard to tell apart
      assert.is_true(distance('#c00000', '#606000', 'deuteranopia') < 25)
      for _, theme in ipairs{colours.light, colours.dark} do
         for i, a in ipairs(colours.order) do
            for j = 1, i - 1 do
               local b = colours.order[j]
               assert.is_true(distance(theme[a], theme[b]) > 20, a .. ' and ' .. b)
               for sight in pairs(SIGHTS) do -- a wait is hatched as well
                  assert.is_true(a == 'wait' or distance(theme[a], theme[b], sight) > 12,
                     a .. ' and ' .. b .. ' with ' .. sight)
               end
            end
         end
      end
   end)
end)

describe('The page of a profile', function()
   it('explains rows, colours and columns, also on a phone', function()
      local page = timeline.page{profile(items)}
      assert.matches('<meta name="viewport" content="width=device-width', page, 1, true)
      for _, name in ipairs(colours.order) do
         local swatch = ('background-color: var(--%s)"></i>%s'):format(name, name)
         assert.matches(swatch .. '</li>', page, 1, true) -- beside the timeline
         assert.matches(swatch .. '</dt><dd>' .. colours.meanings[name], page, 1, true)
      end
      for _, row in ipairs{'stream 0', 'copies', 'communication', 'collectives', 'Lua thread',
         'waits', 'live bytes', 'hidden', 'share'} do
         assert.matches('<(d?[tb])>' .. row .. '</%1>', page)
      end
   end)

   it('has the title and the text above it that a program passes', function()
      local page = timeline.page({profile(items)}, 'the <demo>', '<h1>above</h1>')
      assert.matches('<title>the &lt;demo&gt;</title>', page, 1, true)
      assert.matches('<body>%s*<h1>above</h1>.*<canvas', page)
   end)

   it('contains the profile, its summary and no placeholder', function()
      local page = timeline.page{profile(items)}
      assert.matches('"name":"work"', page, 1, true)
      assert.matches('</i>backward</td><td>1</td><td>3.000</td>', page, 1, true)
      assert.matches('<b>3 operations</b> on <b>2 devices</b> took 4.000 ms', page, 1, true)
      assert.is_nil(page:find '@%u+@')
      assert.is_nil(page:find '%shttps?://[^w]')
   end)

   it('says who holds memory on the host and on devices, by rank if there are several', function()
      local function event(pid, class, block)
         return {ph = 'i', pid = pid, ts = 2000, args = {kind = 'memory', bytes = 1048576,
            live = 3145728, block = block, module = '1', class = class, phase = ''}}
      end
      local p = profile(items)
      p.events[#p.events + 1] = event(0, '', 'a')
      p.events[#p.events + 1] = event(1, 'nn.Tanh', 'b')
      local page = timeline.page{p}
      assert.matches('<h3>Host</h3>.*<h3>Device 1</h3><p class="note">At most 3.00 MiB were in '
         .. 'use, 2.000 ms.*<td class="word">1 nn.Tanh</td><td>1.00</td>', page)
      p.events[#p.events + 1] = event(1002, 'nn.Tanh', 'c')
      page = timeline.page{p}
      assert.matches('<h3>Rank 0: device 1</h3>', page, 1, true)
      assert.matches('<h3>Rank 1: device 2</h3>', page, 1, true)
   end)

   it('is not ended by text in a profile', function()
      local page = timeline.page{profile(items)}
      local _, scripts = page:gsub('</script>', '')
      assert.equal(2, scripts)
   end)

   it('counts in the singular and in the plural, and without operations', function()
      assert.matches('<b>1 operation</b> on <b>1 device</b> took',
         timeline.page{profile{items[1]}}, 1, true)
      assert.matches('The profile has no operations.', timeline.page{profile{}}, 1, true)
   end)
end)

describe('The picture of a profile', function()
   it('has a box for each item and each phase of the legend', function()
      local svg = timeline.picture{profile(items)}
      local _, boxes = svg:gsub('<rect', '')
      assert.equal(1 + #items + #colours.order, boxes)
      assert.matches('<title>2.1 sum &lt;/script&gt;&lt;b&gt;&amp;, reduce, 0.500 ms</title>', svg,
         1, true)
      assert.matches('>device 1, stream 0<', svg, 1, true)
   end)

   it('has names on wide boxes, and rules for light and dark pages', function()
      local svg = timeline.picture{profile(items)}
      assert.matches('<text class="on%-forward"[^>]*>1 work</text>', svg)
      local light, dark = svg:match(
         '<style>(.-)@media %(prefers%-color%-scheme: dark%) {(.-)}</style>')
      for _, name in ipairs{'forward', 'reduce', 'update'} do
         for rules, theme in pairs{[light] = colours.light, [dark] = colours.dark} do
            assert.matches(('.%s{fill:%s}'):format(name, theme[name]), rules, 1, true)
            assert.matches(('.on-%s{fill:%s}'):format(name, colours.ink(theme[name])), rules, 1,
               true)
         end
      end
   end)

   it('shows the work between two times', function()
      local svg = timeline.picture({profile(items)}, 1.5, 1.9)
      local _, boxes = svg:gsub('<title', '')
      assert.equal(1, boxes)
   end)

   it('sets the clocks of ranks', function()
      local svg = timeline.picture{profile(items, 100), profile(items, 100.006)}
      assert.matches('>10 ms</text>', svg, 1, true)
   end)

   it('is empty for an empty profile', function()
      assert.matches('</svg>', timeline.picture{profile{}}, 1, true)
   end)
end)

describe('A file', function()
   it('that is not a profile is rejected', function()
      local path = os.tmpname()
      local file = io.open(path, 'w')
      file:write '[1]'
      file:close()
      assert.has_error(function() timeline.read(path) end,
         'timeline: ' .. path .. ' is no profile of dpt')
      os.remove(path)
      local ok, why = pcall(timeline.read, path)
      assert.is_false(ok)
      assert.matches('timeline: cannot read: ', why, 1, true)
   end)
end)
