--- dpt.profiler.events: converts the recorded trace to events of Chrome's trace format.
--
-- Invariant: every record is one event (a record of a memory block also one of the live bytes),
-- in the order in which they were queued. A process of the format is a device of a rank, or the
-- rank's threads (0); its threads are streams, with a separate thread for copies from other
-- devices. Times are in microseconds since the first record.
local dptffi = require 'dpt.ffi'
local ffi, C = dptffi.ffi, dptffi.C

local KINDS = {[0] = 'kernel', 'wait', 'rendezvous', 'copy', 'thread wait', 'memory', 'span'}
local RANK = 1000 -- distance between the process numbers of ranks
local COMMUNICATION, MEMORY, WAITS = 900, 990, 500 -- thread numbers

-- Splits a label into its phase, module's path and class.
local function labels()
   local known = {}
   return function(number)
      local label = known[number]
      if not label then
         local text = ffi.string(C.dpt_trace_label_text(number))
         local phase, path, name = text:match '^(.-)\t(.-)\t(.*)$'
         label = {phase = phase or '', path = path or '', name = name or ''}
         known[number] = label
      end
      return label
   end
end

local function shape(record)
   local size = {}
   for d = 0, 3 do
      if record.size_[d] > 0 then size[#size + 1] = record.size_[d] end
   end
   return #size > 0 and size or nil
end

-- Returns the thread of a stream's item, and the thread's name.
local function laneOf(record, kind)
   if record.device_ == 0 then return COMMUNICATION, 'collectives' end
   local copies, number, name = kind == 'copy', 2 * record.stream_, 'stream ' .. record.stream_
   if record.stream_ < 0 then number, name = COMMUNICATION, 'communication' end
   return number + (copies and 1 or 0), copies and name .. ', copies' or name
end

-- Collectives without a reduction.
local MOVES = {broadcast = 'broadcast', gather = 'gather', scatter = 'scatter',
   allGather = 'gather'}

-- Returns the phase of a stream's item. Items of communication streams are queued by modules of the
-- backward pass, but count as 'reduce'.
local function phaseOf(record, kind, label)
   if kind == 'wait' or kind == 'thread wait' then return 'wait' end
   if record.device_ == 0 then return MOVES[ffi.string(record.name_)] or 'reduce' end
   if record.stream_ < 0 then return 'reduce' end
   return label.phase ~= '' and label.phase or 'other'
end

local function microseconds(from, to) return tonumber(to - from) / 1e3 end

-- Returns an event of a host thread.
local function ofThread(record, kind, label, zero)
   local wait = kind == 'thread wait'
   local name = wait and ('wait for device %d'):format(record.other_device_)
      or label.name ~= '' and label.name or label.phase == 'update' and 'optimizer' or label.phase
   return {ph = 'X', name = name, cat = wait and 'wait' or label.phase, pid = 0,
      tid = record.thread_ + (wait and WAITS or 0), ts = microseconds(zero, record.begin_),
      dur = microseconds(record.begin_, record.end_),
      args = {kind = kind, module = label.path, class = label.name, thread = record.thread_}}
end

local function ofMemory(record, label, zero)
   return {ph = 'i', s = 't', name = ffi.string(record.name_), cat = 'memory', pid = record.device_,
      tid = MEMORY, ts = microseconds(zero, record.begin_),
      args = {kind = 'memory', bytes = tonumber(record.bytes_), live = tonumber(record.other_),
         block = ('%x'):format(tonumber(record.number_)), module = label.path,
         class = label.name, phase = label.phase, thread = record.thread_}}
end

local function ofItem(record, kind, label, zero)
   local tid = laneOf(record, kind)
   return {ph = 'X', name = ffi.string(record.name_), cat = phaseOf(record, kind, label),
      pid = record.device_, tid = tid, ts = microseconds(zero, record.begin_),
      dur = microseconds(record.begin_, record.end_),
      args = {kind = kind, number = tonumber(record.number_), stream = record.stream_,
         queued = microseconds(zero, record.queued_), thread = record.thread_,
         module = label.path, class = label.name, size = shape(record),
         bytes = record.bytes_ ~= 0 and tonumber(record.bytes_) or nil}}
end

local function key(device, stream, number)
   return ('%d %d %s'):format(device, stream, tostring(number))
end

-- Adds arrows from the end of an item to the items that waited for it.
local function flows(records, n, at, list)
   local items, id = {}, 0
   for i = 0, n - 1 do
      local r = records[i]
      if r.kind_ <= C.DPT_TRACE_COPY then items[key(r.device_, r.stream_, r.number_)] = at[i] end
   end
   for i = 0, n - 1 do
      local r = records[i]
      local waits = r.kind_ == C.DPT_TRACE_WAIT or r.kind_ == C.DPT_TRACE_THREAD_WAIT
      local source = waits and items[key(r.other_device_, r.other_stream_, r.other_)]
      if source then
         id = id + 1
         list[#list + 1] = {ph = 's', id = id, name = 'wait', cat = 'flow', pid = source.pid,
            tid = source.tid, ts = source.ts + source.dur * 0.999}
         list[#list + 1] = {ph = 'f', bp = 'e', id = id, name = 'wait', cat = 'flow',
            pid = at[i].pid, tid = at[i].tid, ts = at[i].ts + at[i].dur * 0.999}
      end
   end
end

-- Adds the names of processes and threads.
local function names(list, rank, ranks)
   local function tell(what, pid, tid, name, order)
      list[#list + 1] = {ph = 'M', name = what, pid = pid, tid = tid, args = {name = name}}
      list[#list + 1] = {ph = 'M', name = what:gsub('_name$', '_sort_index'), pid = pid, tid = tid,
         args = {sort_index = order}}
   end
   local pids, tids = {}, {}
   for i = 1, #list do
      local e = list[i]
      if not pids[e.pid] then
         pids[e.pid] = true
         tell('process_name', e.pid, 0, (ranks > 1 and ('rank %d: '):format(rank) or '')
            .. (e.pid == 0 and 'threads' or 'device ' .. e.pid), rank * RANK + e.pid)
      end
      local lane = ('%d %d'):format(e.pid, e.tid)
      if e.lane and not tids[lane] then
         tids[lane] = true
         tell('thread_name', e.pid, e.tid, e.lane, e.tid)
      end
      e.lane = nil
   end
   for _, e in ipairs(list) do e.pid = e.pid + rank * RANK end
end

--- Returns the events of the stopped trace.
-- @param rank of this process, from 0 @param ranks number of ranks
-- @return list of events; number of records; number of records lost for lack of space; the
-- time of the first record (dpt_clock)
return function(rank, ranks)
   local count, lost = ffi.new 'int64_t[1]', ffi.new 'int64_t[1]'
   local records = C.dpt_trace_records(count, lost)
   local n, list, at, label = tonumber(count[0]), {}, {}, labels()
   local zero = n > 0 and records[0].queued_ or 0
   for i = 1, n - 1 do zero = records[i].queued_ < zero and records[i].queued_ or zero end
   for i = 0, n - 1 do
      local r = records[i]
      local kind = KINDS[r.kind_]
      local e
      if kind == 'memory' then
         e = ofMemory(r, label(r.label_), zero)
         e.lane = 'memory'
         list[#list + 1] = {ph = 'C', name = 'live bytes', pid = e.pid, tid = 0, ts = e.ts,
            args = {bytes = e.args.live}}
      elseif kind == 'span' or kind == 'thread wait' then
         e = ofThread(r, kind, label(r.label_), zero)
         e.lane = 'Lua thread ' .. r.thread_ .. (kind == 'span' and '' or ', waits')
      else
         e = ofItem(r, kind, label(r.label_), zero)
         e.lane = select(2, laneOf(r, kind))
      end
      list[#list + 1], at[i] = e, e
   end
   flows(records, n, at, list)
   names(list, rank, ranks)
   return list, n, tonumber(lost[0]), tonumber(zero) / 1e9
end
