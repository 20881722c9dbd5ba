-- Pages and pictures of profiles: what their text holds. Step browser opens them.
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

describe('The page of a profile', function()
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
