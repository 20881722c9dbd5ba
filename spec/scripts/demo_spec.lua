-- The report of scripts/demo on made-up runs: its statements about a busy machine, its page, and
-- when it fails. Step browser opens the page.
local demo = require 'spec.support.demo'
local read = require 'spec.support.read'
local paths = require('dpt').paths
local others = dofile 'scripts/demo.d/others.lua'
local figures = dofile 'scripts/demo.d/figures.lua'

describe('The cores that other programs used', function()
   it("are the busy ones other than the program's own", function()
      local used, count = others(demo.machine('0,1', 12, {[0] = 10, 9, 10}))
      assert.is_true(math.abs(used - 0.7) < 1e-9)
      assert.equal(2, count)
      used, count = others(demo.machine('1', 2, {[0] = 10, 5, 10}))
      assert.is_true(math.abs(used - 0.3) < 1e-9)
      assert.equal(1, count)
   end)

   it('are none on an idle machine', function()
      assert.equal(0, (others(demo.machine('0,1', 12, {[0] = 6, 5.99}))))
   end)

   it('are unknown where the system does not count', function()
      assert.is_nil((others(demo.machine('0,1', 12, {}))))
      assert.same({nil, 1}, {others 'cores 3\nseconds 1 1 2\n'})
   end)
end)

describe('The figures of the demo', function()
   it('name axes and curves, and keep the names of curves that coincide apart', function()
      local svg = figures.curves('label', 'loss', 'epoch', {{name = '1 device', values = {2, 0.5}},
         {name = '2 devices', values = {2, 0.5}}, {name = '4 devices', values = {2, 0.5}}})
      for _, text in ipairs{'loss', 'epoch', '0', '2', '1 device', '4 devices'} do
         assert.matches('>' .. text .. '</text>', svg, 1, true)
      end
      local previous, colours = -math.huge, {}
      for y in svg:gmatch 'class="name" x="%d+" y="([%d.]+)"' do
         assert.is_true(tonumber(y) >= previous + 19.9)
         previous = tonumber(y)
      end
      for colour, width in svg:gmatch 'stroke: var%(%-%-(%l+)%); stroke%-width: ([%d.]+)' do
         colours[#colours + 1] = colour .. ' ' .. width
      end
      assert.same({'backward 8.9', 'forward 5.7', 'update 2.5'}, colours) -- the widest first
   end)

   it('have values below zero, and curves of one value', function()
      local svg = figures.curves('label', 'difference', 'epoch', {{name = 'a',
         values = {0, -0.0004}}})
      assert.matches('>\226\136\1460.0004</text>', svg, 1, true)
      assert.matches('grid zero', svg, 1, true)
      svg = figures.curves('label', 'difference', 'epoch', {{name = 'a', values = {0}}})
      assert.is_nil(svg:find 'nan')
   end)

   it('have a bar for each value, beside what it could be', function()
      local svg = figures.bars('label', 'images per second', 'devices', {
         {name = '1', value = 1000, ideal = 1000}, {name = '2', value = 1503.6, ideal = 2000}})
      local heights = {}
      for y in svg:gmatch '<rect[^>]* height="([%d.]+)"' do heights[#heights + 1] = tonumber(y) end
      assert.is_true(math.abs(heights[2] / heights[1] - 1.5) < 0.01)
      local _, dashes = svg:gsub('class="ideal"', '')
      assert.equal(2, dashes)
      assert.matches('>2,000</text>', svg, 1, true) -- at the axis
      assert.matches('>1,504</text>', svg, 1, true) -- in the bar
   end)
end)

describe('The report of the demo #noasan #hostonly', function()
   local folder
   before_each(function()
      folder = os.tmpname()
      os.remove(folder)
      assert(paths.mkdir(folder))
   end)
   after_each(function() assert(paths.rmall(folder, 'yes')) end)

   it("reports other programs' load, and explains curves and timeline on a page", function()
      demo.write(folder)
      local text, ok = demo.report(folder)
      assert.is_true(ok, text)
      assert.matches('\n2 +12.5 +150 +1.50 +0.5000 +0.9600\n', text)
      assert.matches('\nother programs used about 0.7 of the 2 cores while 2 devices ran: the '
         .. 'times are not representative\n', text, 1, true)
      local page = read(folder .. '/demo.html')
      for _, part in ipairs{'<td>1</td><td>12.5</td><td>100</td><td>1.00</td>',
         'Beware: other programs used about 0.7 of the 2 cores', 'on 1 device and 2 devices.',
         'The curves of 1 device and 2 devices coincide: the results are the same but for '
         .. 'rounding (at most 0.0010', 'the last ten steps on 2 devices</h2>',
         'How to read the timeline', '0.900 ms from the first item'} do
         assert.matches(part, page, 1, true)
      end
      for _, part in ipairs{'>epoch<', '>loss<', '>1 device<', '>2 devices<',
         '<b>2 devices</b> trained a network <b>1.50 times</b> as fast'} do
         assert.matches(part, page, 1, true)
      end
   end)

   it('does not mention other programs on an idle machine', function()
      demo.write(folder, {['machine.2'] = demo.machine('0,1', 18.5, {[0] = 9.9, 9.5})})
      assert.is_nil(demo.report(folder):find('other programs', 1, true))
   end)

   it('fails without a page if losses differ or the accuracy is low', function()
      for message, changes in pairs{
         ['demo: on 2 devices the losses differ by 0.5'] = {
            ['losses.2'] = 'loss\t\n 2.0000e+00\t\n 5.0000e-01\t\n'},
         ['demo: on 1 device the accuracy is below 0.9'] = {
            ['run.1'] = '\nepochs\n 2 0.5 100 3.0 0.8\n\ntest accuracy: 0.8000\n'}} do
         demo.write(folder, changes)
         local text, ok = demo.report(folder)
         assert.is_false(ok)
         assert.matches(message .. '\n', text, 1, true)
         assert.is_nil(io.open(folder .. '/demo.html'))
         demo.write(folder)
      end
   end)
end)
