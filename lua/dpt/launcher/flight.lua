--- dpt.launcher.flight: `dpt flight`: shows the records of a job's ranks and where they first
-- differ.
--
-- Invariant: it only reads. Operations of ranks are matched by group and number, never by time:
-- clocks of hosts differ.
local options = require 'dpt.launcher.options'

local flight = {}

local USAGE = [[
usage: dpt flight [RECORD ...]

Prints the last operation of each rank of a job, and the first operation at which ranks
differ. Default: the records of your last job in $DPT_FLIGHT, $TMPDIR or /tmp.
]]

local STATES = {[0] = 'was starting', 'was running', 'has failed', 'had finished its script',
   'had exited'}

local function read(dptffi, path)
   local ffi = dptffi.ffi
   local about = ffi.new 'dpt_flight'
   local entries = ffi.new('dpt_flight_entry[?]', dptffi.C.DPT_FLIGHT_ENTRIES)
   if dptffi.C.dpt_flight_read(path, about, entries) ~= 0 then
      return nil, ffi.string(dptffi.C.dpt_message())
   end
   local rank = {rank = about.rank, size = about.size, pid = about.pid,
      host = ffi.string(about.host),
      state = STATES[about.state], text = ffi.string(about.text), last = tonumber(about.beat),
      program = ffi.string(about.program), alive = about.alive, path = path,
      entries = {}}
   for i = 0, tonumber(about.count) - 1 do
      local e = entries[i]
      rank.entries[i + 1] = {number = tonumber(e.number), group = tostring(e.group),
         text = ffi.string(e.text), name = ffi.string(e.name), began = tonumber(e.began),
         ended = tonumber(e.ended), paired = e.what == dptffi.C.DPT_RANKS_SEND
            or e.what == dptffi.C.DPT_RANKS_RECEIVE or e.what == dptffi.C.DPT_RANKS_EXCHANGE}
   end
   return rank
end

--- Finds the first operation that differs between ranks: the smallest operation number in a group
-- for which two ranks recorded different operations, or one rank recorded none.
-- @param ranks list of {rank, entries = list of {group, number, text, paired}}
-- @return nil, or {number, group, [rank] = text or false}
function flight.difference(ranks)
   local groups = {}
   for _, rank in ipairs(ranks) do
      for _, e in ipairs(rank.entries) do
         if not e.paired then
            local g = groups[e.group] or {first = 0, last = 0, members = {}}
            groups[e.group] = g
            local m = g.members[rank.rank] or {first = e.number}
            g.members[rank.rank] = m
            m[e.number] = e.text
            g.first, g.last = math.max(g.first, m.first), math.max(g.last, e.number)
         end
      end
   end
   local found
   for hash, g in pairs(groups) do
      for number = g.first, g.last do
         local texts, differ, one = {number = number, group = hash}, false, nil
         for rank, m in pairs(g.members) do
            texts[rank] = m[number] or false
            if one == nil then one = texts[rank] end
            differ = differ or texts[rank] ~= one
         end
         if differ then
            if not found or number < found.number then found = texts end
            break
         end
      end
   end
   return found
end

local function seconds(from, to) return ('%.3f s'):format((to - from) * 1e-9) end

-- Formats an elapsed time in the largest unit of which it has at least two.
local function ago(time)
   for _, unit in ipairs{{'days', 86400}, {'hours', 3600}, {'minutes', 60}} do
      if time >= 2 * unit[2] then return ('%d %s ago'):format(time / unit[2], unit[1]) end
   end
   return ('%d s ago'):format(math.max(0, time))
end

-- Returns a title: the program and host of the records, and their time.
local function title(ranks, now)
   local last = ranks[1]
   for _, rank in ipairs(ranks) do if rank.alive > last.alive then last = rank end end
   return ('%s on %s, last alive %s (%s), records %s'):format(
      last.program ~= '' and last.program or 'unnamed program', last.host,
      os.date('%Y-%m-%d %H:%M:%S', last.alive), ago(now - last.alive),
      (last.path:gsub('%-%d+$', '-*')))
end

local function report(ranks, now)
   table.sort(ranks, function(a, b) return a.rank < b.rank end)
   print(title(ranks, now))
   for _, rank in ipairs(ranks) do
      local e = rank.entries[#rank.entries]
      print(('rank %d of %d (process %d on %s) %s%s'):format(rank.rank, rank.size, rank.pid,
         rank.host, rank.state, rank.text ~= '' and ': ' .. rank.text or ''))
      if e then
         print(('   last: operation %d, %s%s, %s'):format(e.number, e.text,
            e.name ~= '' and ', ' .. e.name or '',
            e.ended > 0 and 'done in ' .. seconds(e.began, e.ended)
               or 'not done after ' .. seconds(e.began, rank.last)))
      end
   end
   for i = 0, ranks[1].size - 1 do
      local there = false
      for _, rank in ipairs(ranks) do there = there or rank.rank == i end
      if not there then print(('rank %d: no record'):format(i)) end
   end
   local first = flight.difference(ranks)
   if not first then
      print 'the ranks did the same operations in the same order'
      return 0
   end
   print(('they first differ at operation %d:'):format(first.number))
   for _, rank in ipairs(ranks) do
      local text = first[rank.rank]
      if text ~= nil then print(('   rank %d: %s'):format(rank.rank, text or 'not there')) end
   end
   return 1
end

--- Runs the command `dpt flight`.
-- @param paths of records; if empty, those of this user's last job in the folder of records
-- @return exit status: 1 if the ranks differ
function flight.run(paths)
   local dptffi = require 'dpt.ffi'
   if #paths == 0 then
      local pipe = io.popen(("ls -dt '%s'/dpt-flight-$(id -u)-* 2>/dev/null"):format(
         dptffi.ffi.string(dptffi.C.dpt_flight_folder())))
      local job
      for path in pipe:lines() do
         job = job or path:match '^(.*)%-%d+$'
         if path:match '^(.*)%-%d+$' == job then paths[#paths + 1] = path end
      end
      pipe:close()
   end
   if #paths == 0 then
      io.stderr:write 'dpt flight: no records found; pass their paths\n'
      return 2
   end
   local ranks = {}
   for i, path in ipairs(paths) do
      local why
      ranks[i], why = read(dptffi, path)
      if not ranks[i] then
         io.stderr:write('dpt ', why, '\n')
         return 2
      end
   end
   return report(ranks, dptffi.C.dpt_epoch())
end

--- Entry point of the shell script `dpt`. @return the exit status
function flight.main(words)
   local given, paths = options.command('dpt flight', USAGE, words, {}, true)
   if not given then return paths end
   return flight.run(paths)
end

return flight
