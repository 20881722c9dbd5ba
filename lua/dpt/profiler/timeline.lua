--- dpt.profiler.timeline: shows profiles as a page, or as a picture for a document.
--
-- Invariant: the page and the picture are self-contained files; the page contains the profiles
-- themselves. Several profiles come from the ranks of one job: their times are aligned by the
-- clocks of the machines.
local colours = require 'dpt.profiler.colours'
local json = require 'dpt.profiler.json'
local memory = require 'dpt.profiler.memory'
local page = require 'dpt.profiler.page'
local script = require 'dpt.profiler.page_script'
local summary = require 'dpt.profiler.summary'
local fail, type = require('dpt.ffi').fail, require('dpt.ffi').type

local timeline = {}

local function escape(text)
   return (text:gsub('[&<>"]', {['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;'}))
end

--- Reads a profile. @return {name, text, events, about}
function timeline.read(path)
   local file, why = io.open(path)
   if not file then fail('timeline: cannot read: %s', why) end
   local text = file:read '*a'
   file:close()
   local value = json.decode(text, path)
   if type(value) ~= 'table' or type(value.traceEvents) ~= 'table'
      or type(value.otherData) ~= 'table' then
      fail('timeline: %s is no profile of dpt', path)
   end
   return {name = path:match '[^/]*$', text = text, events = value.traceEvents,
      about = value.otherData}
end

-- Returns all events, with times relative to the profile that began first.
local function merged(profiles)
   if #profiles == 1 then return profiles[1].events end
   local start, list = math.huge, {}
   for _, p in ipairs(profiles) do start = math.min(start, p.about.started) end
   for _, p in ipairs(profiles) do
      for _, e in ipairs(p.events) do
         if e.ts then e.ts = e.ts + (p.about.started - start) * 1e6 end
         list[#list + 1] = e
      end
   end
   return list
end

local function titleOf(profiles)
   local names = {}
   for i, p in ipairs(profiles) do names[i] = p.name end
   return table.concat(names, ', ')
end

local function swatch(phase)
   return ('<i class="key %s" style="background-color: var(--%s)"></i>'):format(phase, phase)
end

-- Returns the phases with their colours: only the names, and a list with their meanings.
local function legend()
   local names, list = {}, {}
   for i, name in ipairs(colours.order) do
      names[i] = ('<li>%s%s</li>'):format(swatch(name), name)
      list[i] = ('<dt>%s%s</dt><dd>%s</dd>'):format(swatch(name), name,
         escape(colours.meanings[name]))
   end
   return table.concat(names), table.concat(list, '\n')
end

-- Returns a table of HTML, in a frame that scrolls sideways. A phase has its colour, a share a bar.
local function tableOf(rows)
   local out, header = {}, rows[1]
   for k, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         local tag = k == 1 and 'th' or 'td'
         local open = tag .. (k == 1 and ' scope="col"' or '')
            .. (i <= rows.left and ' class="word"' or '')
         if k > 1 and header[i] == 'share' then
            open = ('%s style="--share: %s"'):format(open, cell:gsub(' ', ''))
         end
         local mark = k > 1 and header[i] == 'phase' and swatch(cell) or ''
         cells[i] = ('<%s>%s%s</%s>'):format(open, mark, escape(cell), tag)
      end
      out[k] = '<tr>' .. table.concat(cells) .. '</tr>'
   end
   return ('<div class="scroll" tabindex="0"><table>\n<thead>%s</thead>\n<tbody>%s</tbody>'
      .. '</table></div>%s'):format(table.remove(out, 1), table.concat(out, '\n'),
         rows.more and '<p class="note">' .. rows.more .. '</p>' or '')
end

-- Returns a number of things, with commas between thousands.
local function plural(n, word)
   local digits = ('%d'):format(n):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', '')
   return ('<b>%s %s%s</b>'):format(digits, word, n == 1 and '' or 's')
end

-- Returns a sentence about a summary.
local function lede(sums)
   local items, busy, count = 0, 0, #sums.devices
   for _, p in ipairs(sums.phases) do items = items + p.items end
   for _, d in ipairs(sums.devices) do busy = busy + d.busy end
   if items == 0 then return 'The profile has no operations.' end
   local text = ('%s on %s took %.3f ms from the first item to the last.'):format(
      plural(items, 'operation'), plural(count, 'device'), sums.elapsed)
   if count == 0 or sums.elapsed == 0 then return text end
   return ('%s %s busy for <b>%.0f&nbsp;%%</b> of that time%s.'):format(text,
      count == 1 and 'The device was' or 'The devices were', 100 * busy / count / sums.elapsed,
      count == 1 and '' or ' on average')
end

-- Returns the section about memory; nothing if the profile has no blocks.
local function memorySection(list)
   if #list == 0 then return '' end
   local out, ranks = {}, list[#list].device >= 1000
   for i, device in ipairs(list) do
      local rows, number = {{'held by', 'MiB'}, left = 1}, device.device % 1000
      local name = number == 0 and 'Host' or 'Device ' .. number
      local rank = math.floor(device.device / 1000)
      if ranks then name = ('Rank %d: %s'):format(rank, name:lower()) end
      local function mib(bytes) return ('%.2f'):format(bytes / 1048576) end
      for k = 1, math.min(10, #device.holders) do
         rows[k + 1] = {device.holders[k].name, mib(device.holders[k].bytes)}
      end
      local more = #device.holders - 10
      if more > 0 then rows.more = ('and %d other%s'):format(more, more == 1 and '' or 's') end
      out[i] = ('<div><h3>%s</h3><p class="note">At most %s MiB were in use, %.3f ms after '
         .. 'the start; at the end %s MiB.</p>%s</div>'):format(name, mib(device.peak),
         device.at / 1e3, mib(device.live), tableOf(rows))
   end
   return ('<details><summary>Memory</summary><p>The largest number of bytes in use at one time, '
      .. 'and the modules that had allocated them.</p><div class="columns many">%s</div></details>')
      :format(table.concat(out, '\n'))
end

--- Returns the page.
-- @param profiles list of results of read
-- @param title of the window (the profiles' names)
-- @param above HTML before the timeline (none)
function timeline.page(profiles, title, above)
   local data = {}
   for i, p in ipairs(profiles) do
      data[i] = '<script type="application/json" class="profile">'
         .. p.text:gsub('</', '<\\/'):gsub('<!%-%-', '<\\u0021--') .. '</script>'
   end
   local events = merged(profiles)
   local sums = summary(events)
   local names, phases = legend()
   local byPhase, byDevice, byModule = sums:tables()
   local name = escape(titleOf(profiles))
   local parts = {TITLE = escape(title or titleOf(profiles)), LEDE = lede(sums), LEGEND = names,
      LIGHT = colours.variables(colours.light), DARK = colours.variables(colours.dark),
      ABOVE = above or '<header><h1>' .. name .. '</h1></header>', PHASES = phases,
      NAMES = json.encode(colours.order), BYPHASE = tableOf(byPhase),
      BYDEVICE = tableOf(byDevice), BYMODULE = tableOf(byModule),
      MEMORY = memorySection(memory(events)), DATA = table.concat(data, '\n')}
   return (page:gsub('@SCRIPT@', function() return script end):gsub('@(%u+)@', parts))
end

-- pictures ----------------------------------------------------------------------------------------

local WIDTH, ROW, TOP, EDGE, FOOT = 880, 20, 36, 12, 66
local LETTER = 7 -- about the width of a letter

-- Returns the lanes of streams that ran something, in order: {name, events, pid}.
local function lanesOf(events)
   local names, lanes, list = {}, {}, {}
   for _, e in ipairs(events) do
      if e.ph == 'M' and e.name == 'thread_name' then names[e.pid .. ' ' .. e.tid] = e.args.name end
      if e.ph == 'M' and e.name == 'process_name' then names[e.pid] = e.args.name end
   end
   for _, e in ipairs(events) do
      if e.ph == 'X' and e.args.kind ~= 'span' and e.args.kind ~= 'thread wait' then
         local key = e.pid .. ' ' .. e.tid
         if not lanes[key] then
            lanes[key] = {pid = e.pid, tid = e.tid, events = {},
               name = (names[e.pid] or e.pid) .. ', ' .. (names[key] or e.tid)}
            list[#list + 1] = lanes[key]
         end
         table.insert(lanes[key].events, e)
      end
   end
   table.sort(list, function(a, b)
      if a.pid ~= b.pid then return a.pid < b.pid end
      return a.tid < b.tid
   end)
   return list
end

local function extent(lanes)
   local first, last = math.huge, -math.huge
   for _, lane in ipairs(lanes) do
      for _, e in ipairs(lane.events) do
         first, last = math.min(first, e.ts), math.max(last, e.ts + e.dur)
      end
   end
   if first > last then return 0, 1 end
   return first, last
end

-- Returns the rules of a theme for a picture. They do not use CSS variables, which some viewers
-- lack.
local function rules(theme)
   local list = {('.ground{fill:%s;stroke:%s} .grid{stroke:%s} text{fill:%s} .axis{fill:%s} '
      .. '.hatch{stroke:%s}'):format(theme.background, theme.line, theme.line, theme.text,
      theme.muted, theme.wait)}
   for _, name in ipairs(colours.order) do
      if name ~= 'wait' then
         list[#list + 1] = ('.%s{fill:%s} .on-%s{fill:%s}'):format(name, theme[name], name,
            colours.ink(theme[name]))
      end
   end
   return table.concat(list, ' ')
end

-- Returns a string, shortened to fit a width in pixels; nil if there is no room.
local function fit(text, width)
   local count = math.floor(width / LETTER)
   if #text <= count then return text end
   return count > 3 and text:sub(1, count - 1) .. '\226\128\166' or nil
end

-- Returns a step of 1, 2 or 5 times a power of ten, at least `least`.
local function nice(least)
   local power = 10 ^ math.floor(math.log10(least))
   for _, factor in ipairs{1, 2, 5} do
      if factor * power >= least then return factor * power end
   end
   return 10 * power
end

--- Returns an SVG picture of the work on streams, for light and dark pages; wide boxes have names,
-- and those wide enough to point at a tooltip.
-- @param profiles list of results of read
-- @param from, to milliseconds since the first item (all)
function timeline.picture(profiles, from, to)
   local lanes = lanesOf(merged(profiles))
   local first, last = extent(lanes)
   local edge = 120 -- of the boxes, on the left
   for _, lane in ipairs(lanes) do edge = math.max(edge, 2 * EDGE + #lane.name * LETTER) end
   local left, right = first + (from or 0) * 1e3, to and first + to * 1e3 or last
   local bottom = TOP + #lanes * (ROW + 6)
   local height = bottom + FOOT
   local out = {}
   local function add(format, ...) out[#out + 1] = format:format(...) end
   local function x(ts) return edge + (ts - left) / (right - left) * (WIDTH - edge - EDGE) end
   add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
      .. 'role="img" font-family="system-ui, -apple-system, \'Segoe UI\', sans-serif" '
      .. 'font-size="12">', WIDTH, height, WIDTH, height)
   add('<style>%s\n@media (prefers-color-scheme: dark) {%s}</style>', rules(colours.light),
      rules(colours.dark))
   add '<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse">'
   add '<path class="hatch" d="M-1 6L6 -1M-1 1L1 -1M4 6L6 4" stroke-width="1.6"/></pattern>'
   add('<rect class="ground" x=".5" y=".5" width="%d" height="%d" rx="6"/>', WIDTH - 1, height - 1)
   add('<text class="axis" x="%d" y="22">time</text>', EDGE)
   local step = nice((right - left) / 8)
   for i = math.ceil((left - first) / step - 1e-9), math.floor((right - first) / step + 1e-9) do
      local at = x(first + i * step)
      add('<path class="grid" d="M%.1f 28V%d"/>', at, bottom)
      add('<text class="axis" x="%.1f" y="22" text-anchor="%s">%g ms</text>', at,
         at > WIDTH - 40 and 'end' or at < edge + 20 and 'start' or 'middle',
         i == 0 and 0 or i * step / 1e3) -- not -0
   end
   for k, lane in ipairs(lanes) do
      local y = TOP + (k - 1) * (ROW + 6)
      add('<text x="%d" y="%d">%s</text>', EDGE, y + 14, escape(lane.name))
      for _, e in ipairs(lane.events) do
         if e.ts + e.dur >= left and e.ts <= right then
            local a, b = math.max(x(e.ts), edge), math.min(x(e.ts + e.dur), WIDTH - EDGE)
            local phase = colours.meanings[e.cat] and e.cat or 'other'
            local module = e.args.module or ''
            local name = (module ~= '' and module .. ' ' or '') .. e.name
            local title = b - a >= 2 and ('<title>%s, %s, %.3f ms</title>'):format(escape(name),
               e.cat, e.dur / 1e3) or ''
            add('<rect %s x="%.1f" y="%d" width="%.1f" height="%d">%s</rect>', phase == 'wait'
               and 'fill="url(#hatch)"' or ('class="%s"'):format(phase), a, y,
               math.max(b - a - (b - a > 3 and 0.7 or 0), 0.5), ROW, title)
            local text = phase ~= 'wait' and fit(name, b - a - 8)
            if text then
               add('<text class="on-%s" x="%.1f" y="%d" pointer-events="none">%s</text>', phase,
                  a + 4, y + 14, escape(text))
            end
         end
      end
   end
   local columns = math.ceil(#colours.order / 2)
   for i, name in ipairs(colours.order) do
      local at = edge + (i - 1) % columns * (WIDTH - edge) / columns
      local y = bottom + 12 + math.floor((i - 1) / columns) * 22
      add('<rect %s x="%d" y="%d" width="12" height="12" rx="2"/>'
         .. '<text x="%d" y="%d">%s</text>',
         name == 'wait' and 'fill="url(#hatch)"' or ('class="%s"'):format(name), at, y, at + 18,
         y + 10, name)
   end
   add '</svg>'
   return table.concat(out, '\n') .. '\n'
end

return timeline
