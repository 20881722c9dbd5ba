--- dpt.profiler.summary: sums the time of a profile by phase, by module, by device.
--
-- Invariant: times are those of work on streams, in milliseconds; waits are not work. A module's
-- own time is that of work it queued itself, its total includes the modules inside it.
-- Communication (work of phases that move data between devices) counts as hidden while some device
-- computes forward, backward or an update.
local intervals = require 'dpt.profiler.intervals'

local COMMUNICATES = {reduce = true, broadcast = true, scatter = true, gather = true}
local COMPUTES = {forward = true, backward = true, criterion = true, update = true}
local ORDER = {'broadcast', 'scatter', 'forward', 'gather', 'criterion', 'backward', 'reduce',
   'update', 'other'}

-- Returns the work on streams, and the times of its beginning and end.
local function works(events)
   local list, first, last = {}, math.huge, -math.huge
   for _, e in ipairs(events) do
      if e.ph == 'X' and e.args.kind ~= 'span' and e.args.kind ~= 'thread wait' then
         first, last = math.min(first, e.ts), math.max(last, e.ts + e.dur)
         if e.cat ~= 'wait' then list[#list + 1] = e end
      end
   end
   return list, #list > 0 and last - first or 0
end

local function group(list, keyOf)
   local groups, keys = {}, {}
   for _, e in ipairs(list) do
      local key = keyOf(e)
      if key ~= nil then
         if not groups[key] then
            groups[key] = {}
            keys[#keys + 1] = key
         end
         table.insert(groups[key], e)
      end
   end
   return groups, keys
end

local function total(list)
   local sum = 0
   for _, e in ipairs(list) do sum = sum + e.dur end
   return sum / 1e3
end

local function phases(list, all)
   local groups = group(list, function(e) return e.cat end)
   local computing = {}
   for _, e in ipairs(list) do
      if COMPUTES[e.cat] and e.args.kind ~= 'copy' then computing[#computing + 1] = e end
   end
   computing = intervals.union(computing)
   local result, moving = {}, {}
   for _, name in ipairs(ORDER) do
      local events = groups[name]
      if events then
         local phase = {name = name, items = #events, ms = total(events)}
         phase.share = all > 0 and phase.ms / all or 0
         if COMMUNICATES[name] then
            local set = intervals.union(events)
            phase.elapsed = intervals.length(set) / 1e3
            phase.hidden = intervals.common(set, computing) / 1e3
            for _, e in ipairs(events) do moving[#moving + 1] = e end
         end
         result[#result + 1] = phase
      end
   end
   local set = intervals.union(moving)
   return result, {elapsed = intervals.length(set) / 1e3,
      hidden = intervals.common(set, computing) / 1e3}
end

local function devices(list, elapsed)
   local groups, keys = group(list, function(e) return e.pid % 1000 > 0 and e.pid or nil end)
   table.sort(keys)
   local result = {}
   for i, pid in ipairs(keys) do
      local busy = intervals.length(intervals.union(groups[pid])) / 1e3
      result[i] = {rank = math.floor(pid / 1000), device = pid % 1000, busy = busy,
         idle = math.max(0, elapsed / 1e3 - busy)}
   end
   return result
end

local function isInside(path, outer)
   return outer == '' or path == outer or path:sub(1, #outer + 1) == outer .. '.'
end

local function modules(list, all)
   local rows, keys = {}, {}
   for _, e in ipairs(list) do
      local path, name = e.args.module or '', e.args.class or ''
      if name ~= '' then
         if not rows[path] then
            rows[path] = {path = path, class = name, own = 0, total = 0, forward = 0, backward = 0}
            keys[#keys + 1] = path
         end
         local row, ms = rows[path], e.dur / 1e3
         row.own = row.own + ms
         if row[e.cat] then row[e.cat] = row[e.cat] + ms end
      end
   end
   local result = {}
   for i, path in ipairs(keys) do
      for _, other in ipairs(keys) do
         if isInside(other, path) then rows[path].total = rows[path].total + rows[other].own end
      end
      rows[path].share = all > 0 and rows[path].own / all or 0
      result[i] = rows[path]
   end
   table.sort(result, function(a, b)
      if a.own ~= b.own then return a.own > b.own end
      return a.path < b.path
   end)
   return result
end

-- Formats rows as columns; the first `left` columns are left-aligned.
local function columns(rows, left)
   local widths, lines = {}, {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, #cell) end
   end
   for k, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         cells[i] = ('%' .. (i <= left and '-' or '') .. widths[i] .. 's'):format(cell)
      end
      lines[k] = table.concat(cells, '  '):gsub('%s+$', '')
   end
   return table.concat(lines, '\n')
end

local function ms(value) return ('%.3f'):format(value) end
local function percent(value) return ('%.1f %%'):format(100 * value) end

local Summary = {}
Summary.__index = Summary

local MOST = 20 -- modules in the text

--- Returns the summary as tables of text: phases, devices and modules, each a list of rows, the
-- first of which has the columns' names. `left` is the number of columns to align left; `more` says
-- how many modules are left out, if any.
function Summary:tables()
   local byPhase = {{'phase', 'items', 'ms', 'share', 'hidden'}, left = 1}
   for _, p in ipairs(self.phases) do
      byPhase[#byPhase + 1] = {p.name, tostring(p.items), ms(p.ms), percent(p.share),
         p.hidden and percent(p.elapsed > 0 and p.hidden / p.elapsed or 0) or ''}
   end
   local byDevice = {{'device', 'busy ms', 'idle ms', 'idle'}, left = 1}
   for _, d in ipairs(self.devices) do
      byDevice[#byDevice + 1] = {(self.ranks and ('rank %d, '):format(d.rank) or '') .. d.device,
         ms(d.busy), ms(d.idle), percent(self.elapsed > 0 and d.idle / self.elapsed or 0)}
   end
   local byModule = {
      {'module', 'class', 'own ms', 'share', 'forward', 'backward', 'total'}, left = 2}
   for i = 1, math.min(MOST, #self.modules) do
      local m = self.modules[i]
      byModule[#byModule + 1] = {m.path == '' and '(all)' or m.path, m.class, ms(m.own),
         percent(m.share), ms(m.forward), ms(m.backward), ms(m.total)}
   end
   local more = #self.modules - MOST
   if more > 0 then
      byModule.more = ('and %d more module%s'):format(more, more == 1 and '' or 's')
   end
   return byPhase, byDevice, byModule
end

function Summary:__tostring()
   local byPhase, byDevice, byModule = self:tables()
   local text = {('%.3f ms from the first item to the last'):format(self.elapsed), '',
      columns(byPhase, byPhase.left), '', columns(byDevice, byDevice.left) .. '\n'}
   if #byModule > 1 then text[#text + 1] = columns(byModule, byModule.left) end
   text[#text + 1] = byModule.more
   return table.concat(text, '\n')
end

--- Summarizes a profile.
-- @param events list of the profile's events
-- @return table with elapsed; phases: list of {name, items, ms, share}, for communication also
-- {elapsed, hidden}; communication of all phases; devices: list of {rank, device, busy, idle};
-- modules: list of {path, class, own, total, forward, backward, share}. tostring formats
-- it as text, tables() as tables
return function(events)
   local list, elapsed = works(events)
   local all = total(list)
   local self = setmetatable({elapsed = elapsed / 1e3, busy = all}, Summary)
   self.phases, self.communication = phases(list, all)
   self.devices = devices(list, elapsed)
   for _, d in ipairs(self.devices) do self.ranks = self.ranks or d.rank > 0 end
   self.modules = modules(list, all)
   return self
end
