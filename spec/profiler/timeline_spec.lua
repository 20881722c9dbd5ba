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
   return unpack(parts)
end

-- Returns the contrast of two colours, 1 to 21, as defined by WCAG 2.
local function contrast(a, b)
   local function luminance(colour)
      local red, green, blue = linear(colour)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
   end
   local x, y = luminance(a), luminance(b)
   return math.max(x, y) / math.min(x, y)
end

-- Returns the distance of two colours in CIELAB (1976); 2.3 is barely visible.
local function distance(a, b)
   local function lab(colour)
      local red, green, blue = linear(colour)
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

describe('The colours of phases', function()
   it('carry text of a contrast of 4.5 or more', function()
      assert.is_true(math.abs(contrast('#ffffff', '#000000') - 21) < 1e-9)
      for _, name in ipairs(colours.order) do
         assert.is_true(contrast(colours[name], colours.text) >= 4.5, name)
      end
   end)

   it('differ clearly from each other', function()
      assert.is_true(distance('#76b7b2', '#86bcb6') < 5) -- hard to tell apart
      for i, a in ipairs(colours.order) do
         for j = 1, i - 1 do
            local b = colours.order[j]
            assert.is_true(distance(colours[a], colours[b]) > 20, a .. ' and ' .. b)
         end
      end
   end)
end)

describe('The page of a profile', function()
   it('says what rows, colours and columns are, also on a phone', function()
      local page = timeline.page{profile(items)}
      assert.matches('<meta name="viewport" content="width=device-width', page, 1, true)
      for _, name in ipairs(colours.order) do
         assert.matches(colours[name] .. '"></i>' .. name .. ': ' .. colours.meanings[name], page,
            1, true)
      end
      for _, row in ipairs{'stream 0', 'copies', 'communication', 'collectives', 'Lua thread',
         'waits', 'live bytes', 'hidden', 'share'} do
         assert.matches('<b>' .. row .. '</b>', page, 1, true)
      end
   end)

   it('has the title and the text above it that a program gives', function()
      local page = timeline.page({profile(items)}, 'the <demo>', '<h1>above</h1>')
      assert.matches('<title>the &lt;demo&gt;</title>', page, 1, true)
      assert.matches('<body>%s*<h1>above</h1>.*<canvas', page)
   end)

   it('holds the profile, its summary and no mark', function()
      local page = timeline.page{profile(items)}
      assert.matches('"name":"work"', page, 1, true)
      assert.matches('backward +1 +3.000', page)
      assert.is_nil(page:find '@%u+@')
      assert.is_nil(page:find '%shttps?://[^w]')
   end)

   it('is not ended by what a profile says', function()
      local page = timeline.page{profile(items)}
      local _, scripts = page:gsub('</script>', '')
      assert.equal(2, scripts)
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

   it('shows what runs between two times', function()
      local svg = timeline.picture({profile(items)}, 1.5, 1.9)
      local _, boxes = svg:gsub('<title', '')
      assert.equal(1, boxes)
   end)

   it('sets the clocks of ranks', function()
      local svg = timeline.picture{profile(items, 100), profile(items, 100.006)}
      assert.matches('10.00 ms</text>', svg, 1, true)
   end)

   it('is empty for a profile of nothing', function()
      assert.matches('</svg>', timeline.picture{profile{}}, 1, true)
   end)
end)

describe('A file', function()
   it('that is no profile is rejected', function()
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
