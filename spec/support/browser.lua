-- Opens pages of profiles in a headless Chromium (step browser of scripts/test --rest).
local dpt = require 'dpt'
local colours = require 'dpt.profiler.colours'
local demo = require 'spec.support.demo'
local read = require 'spec.support.read'
local timeline = require 'dpt.profiler.timeline'
local profiler, torch, nn, paths = dpt.profiler, dpt.torch, dpt.nn, dpt.paths

-- Returns the page's DOM after its script has run, and the lines of Chromium's console.
-- @param theme 'light' or 'dark': what the reader prefers (light)
local function open(html, theme)
   local name = os.tmpname()
   local page, log = name .. '.html', name .. '.log'
   local file = io.open(page, 'w')
   file:write(html)
   file:close()
   local pipe = io.popen(('timeout 120 chromium --headless --no-sandbox --disable-gpu --dump-dom'
      .. ' --virtual-time-budget=5000 --enable-logging=stderr --user-data-dir=%s.d'
      .. ' --blink-settings=preferredColorScheme=%d file://%s 2>%s')
      :format(name, theme == 'dark' and 0 or 1, page, log))
   local dom = pipe:read '*a'
   pipe:close()
   local console = {}
   for line in io.lines(log) do
      if line:find 'CONSOLE' then console[#console + 1] = line end
   end
   os.execute(("rm -rf '%s' '%s' '%s' '%s.d'"):format(name, page, log, name))
   return dom, table.concat(console, '\n')
end

local function profile()
   local path = os.tmpname()
   local net = nn.Sequential():add(nn.Linear(20, 30)):add(nn.Tanh()):add(nn.Linear(30, 5))
   local many = nn.DataParallelTable(1, true):add(net:cuda(), {1, 2})
   local input = torch.CudaTensor(8, 20):uniform()
   profiler.start()
   many:backward(input, many:forward(input))
   profiler.stop(path)
   local p = timeline.read(path)
   os.remove(path)
   return p
end

local function count(events)
   local n = 0
   for _, e in ipairs(events) do n = n + (e.ph == 'X' and 1 or 0) end
   return n
end

-- Returns the page of the demo on made-up runs.
local function demoPage()
   local folder = os.tmpname()
   os.remove(folder)
   assert(paths.mkdir(folder))
   demo.write(folder)
   local text, ok = demo.report(folder)
   assert.is_true(ok, text)
   local page = read(folder .. '/demo.html')
   paths.rmall(folder, 'yes')
   return page
end

-- Returns what expressions of JavaScript find on a page in a frame of a width, separated by commas;
-- they know page, canvas, width and css(element). A window of Chromium is at least 500 pixels wide,
-- a frame may be narrower.
local function look(html, width, expressions, theme)
   local dom, console = open(([[<iframe width="%d" height="800" style="border: 0" srcdoc="%s">
      </iframe><script>onload = () => {
      const page = frames[0].document, canvas = page.getElementById('lanes'), width = %d;
      const css = element => frames[0].getComputedStyle(element);
      document.body.dataset.seen = [%s]; }</script>]]):format(width,
      (html:gsub('&', '&amp;'):gsub('"', '&quot;')), width, expressions), theme)
   assert.equal('', console)
   return dom:match 'data%-seen="([^"]*)"'
end

describe('The page of a profile', function()
   local missing = not (os.execute 'command -v chromium >/dev/null' == 0
      or os.execute 'command -v chromium >/dev/null' == true)

   it('has a box for each event and nothing on the console', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local p = profile()
      local dom, console = open(timeline.page{p})
      assert.equal('', console)
      assert.equal(tostring(count(p.events)), dom:match 'data%-boxes="(%d+)"')
   end)

   it('has the boxes of all ranks', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local a, b = profile(), profile()
      local dom, console = open(timeline.page{a, b})
      assert.equal('', console)
      assert.equal(tostring(count(a.events) + count(b.events)), dom:match 'data%-boxes="(%d+)"')
   end)

   it('is no wider than the window, with the demo above it, and hides no line of text', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local page = demoPage()
      for _, width in ipairs{360, 768, 1440} do
         assert.equal('1,true,true,true,true', look(page, width, [[page.body.dataset.boxes,
            page.documentElement.scrollWidth <= page.documentElement.clientWidth,
            canvas.clientWidth >= 0.85 * width,
            [...page.querySelectorAll('.scroll')].every(f => f.scrollHeight == f.clientHeight),
            width < 768 ||
               [...page.querySelectorAll('.scroll')].every(f => f.scrollWidth == f.clientWidth)]]))
      end
   end)

   it('has the theme that the reader prefers', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local page = timeline.page{profile()}
      local function rgb(colour)
         return 'rgb(' .. colour:gsub('#?(%x%x)', function(c) return tonumber(c, 16) .. ', ' end)
            :sub(1, -3) .. ')'
      end
      for _, theme in ipairs{'light', 'dark'} do
         local c = colours[theme]
         assert.equal(table.concat({rgb(c.background), rgb(c.text), rgb(c.forward),
            c['forward']}, ','), look(page, 768, [[css(page.body).backgroundColor,
            css(page.body).color, css(page.querySelector('.key.forward')).backgroundColor,
            frames[0].eval('colour.forward')]], theme))
      end
   end)

   it('can be operated by the keyboard, and shows where the focus is', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      assert.equal('0,0.5,0.5625,1,solid', look(timeline.page{profile()}, 768, [[canvas.tabIndex,
         ...['+', 'ArrowRight', 'Home'].map(key => {
            canvas.dispatchEvent(new frames[0].KeyboardEvent('keydown', {key: key}));
            const at = frames[0].eval(key == 'ArrowRight' ? 'to - (to - from) / 2' : 'to - from');
            const all = frames[0].eval('last - first'), start = frames[0].eval('first');
            return Math.round(10000 * (key == 'ArrowRight' ? at - start : at) / all) / 10000;
         }), (canvas.focus({focusVisible: true}), css(canvas).outlineStyle)]]))
   end)

   it('reports a planted fault: this test can fail', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local _, console = open '<script>nowhere()</script>'
      assert.matches('nowhere is not defined', console, 1, true)
   end)
end)
