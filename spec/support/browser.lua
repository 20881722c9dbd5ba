-- Opens pages of profiles in a headless Chromium (step browser of scripts/test --rest).
local dpt = require 'dpt'
local demo = require 'spec.support.demo'
local read = require 'spec.support.read'
local timeline = require 'dpt.profiler.timeline'
local profiler, torch, nn, paths = dpt.profiler, dpt.torch, dpt.nn, dpt.paths

-- Returns the page's DOM after its script has run, and the lines of Chromium's console.
local function open(html)
   local name = os.tmpname()
   local page, log = name .. '.html', name .. '.log'
   local file = io.open(page, 'w')
   file:write(html)
   file:close()
   local pipe = io.popen(('timeout 120 chromium --headless --no-sandbox --disable-gpu --dump-dom'
      .. ' --virtual-time-budget=5000 --enable-logging=stderr --user-data-dir=%s.d file://%s 2>%s')
      :format(name, page, log))
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

   it('is no wider than a phone, with the demo above it, and hides no line of text', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local folder = os.tmpname()
      os.remove(folder)
      assert(paths.mkdir(folder))
      demo.write(folder)
      local text, ok = demo.report(folder)
      assert.is_true(ok, text)
      local page = read(folder .. '/demo.html')
      paths.rmall(folder, 'yes')
      -- a window of Chromium is at least 500 pixels wide; a frame may be narrower
      local dom, console = open(('<iframe width="390" height="800" srcdoc="%s"></iframe><script>'
         .. 'onload = () => {const page = frames[0].document; document.body.dataset.seen = '
         .. '[page.body.dataset.boxes, page.documentElement.scrollWidth <= 390, '
         .. '...[...page.querySelectorAll("pre")].map(p => p.scrollHeight == p.clientHeight)]}'
         .. '</script>'):format((page:gsub('&', '&amp;'):gsub('"', '&quot;'))))
      assert.equal('', console)
      assert.equal('1,true,true,true', dom:match 'data%-seen="([^"]*)"')
   end)

   it('says what is wrong where something is: this test can fail', function()
      if missing then return pending 'there is no Chromium: scripts/setup --rest' end
      local _, console = open '<script>nowhere()</script>'
      assert.matches('nowhere is not defined', console, 1, true)
   end)
end)
