--- dpt.profiler.timeline: shows profiles as a page, or as a picture for a document.
--
-- Invariant: both are one text without dependencies; the page contains the profiles' own text.
-- Several profiles are those of the ranks of a job: their times are aligned by the clocks of their
-- machines.
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

-- Returns the phases with their colours: only the names, and a list with their meanings.
local function legend()
   local names, list = {}, {}
   for i, name in ipairs(colours.order) do
      names[i] = ('<i class="key" style="background: %s"></i>%s'):format(colours[name], name)
      list[i] = ('<li>%s: %s</li>'):format(names[i], escape(colours.meanings[name]))
      names[i] = '<span style="white-space: nowrap">' .. names[i] .. '</span>'
   end
   return table.concat(names, ' &nbsp;'), table.concat(list, '\n')
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
   local names, phases = legend()
   local parts = {TITLE = escape(title or titleOf(profiles)), NAME = escape(titleOf(profiles)),
      ABOVE = above or '', LEGEND = names, PHASES = phases, COLOURS = json.encode(colours),
      SUMMARY = escape(tostring(summary(events))), MEMORY = escape(tostring(memory(events))),
      DATA = table.concat(data, '\n')}
   return (page:gsub('@SCRIPT@', function() return script end):gsub('@(%u+)@', parts))
end

-- pictures ----------------------------------------------------------------------------------------

local LEFT, WIDTH, ROW, TOP = 180, 1000, 18, 30

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

--- Returns an SVG picture of the work on streams; boxes wide enough to point at have a tooltip.
-- @param profiles list of results of read
-- @param from, to milliseconds since the first item (all)
function timeline.picture(profiles, from, to)
   local lanes = lanesOf(merged(profiles))
   local first, last = extent(lanes)
   local left, right = first + (from or 0) * 1e3, to and first + to * 1e3 or last
   local height = TOP + #lanes * (ROW + 4) + 46
   local out = {}
   local function add(format, ...) out[#out + 1] = format:format(...) end
   local function x(ts) return LEFT + (ts - left) / (right - left) * (WIDTH - LEFT - 10) end
   add('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
      .. 'font-family="sans-serif" font-size="11">', WIDTH, height, WIDTH, height)
   add('<rect width="%d" height="%d" fill="#fff"/>', WIDTH, height)
   for i = 0, 5 do
      local ts = left + (right - left) * i / 5
      add('<text x="%.1f" y="16" fill="#666"%s>%.2f ms</text>', x(ts),
         i == 5 and ' text-anchor="end"' or '', (ts - first) / 1e3)
      add('<path d="M%.1f 22V%d" stroke="#eee"/>', x(ts), height - 40)
   end
   for k, lane in ipairs(lanes) do
      local y = TOP + (k - 1) * (ROW + 4)
      add('<text x="6" y="%d">%s</text>', y + 13, escape(lane.name))
      for _, e in ipairs(lane.events) do
         if e.ts + e.dur >= left and e.ts <= right then
            local a, b = math.max(x(e.ts), LEFT), math.min(x(e.ts + e.dur), WIDTH - 10)
            local module = e.args.module or ''
            local about = ('%s%s, %s, %.3f ms'):format(module ~= '' and module .. ' ' or '', e.name,
               e.cat, e.dur / 1e3)
            local title = b - a >= 2 and '<title>' .. escape(about) .. '</title>' or ''
            add('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s">%s</rect>', a, y,
               math.max(b - a, 0.5), ROW, colours[e.cat] or colours.other, title)
         end
      end
   end
   for i, name in ipairs(colours.order) do
      local at = LEFT + (i - 1) * 80
      add('<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>', at,
         height - 26, colours[name], at + 14, height - 17, name)
   end
   add '</svg>'
   return table.concat(out, '\n') .. '\n'
end

return timeline
