--- dpt.profiler: records the work of every device during a part of a program, item by item.
--
--    local profiler = require('dpt').profiler
--    profiler.start()
--    step()
--    profiler.stop 'step.json'        -- for `dpt timeline`, Perfetto and chrome://tracing
--    print(profiler.summary())
--
-- Invariant: there is one profile at a time per process; the last one is kept until the next
-- begins. Work is recorded whichever Lua state or thread queues it, and nothing waits between start
-- and stop that would not wait otherwise. The profile of the command `dpt --profile` is hidden from
-- the program: isRunning() is false, and the program's own start ends it.
local dptffi = require 'dpt.ffi'
local events = require 'dpt.profiler.events'
local json = require 'dpt.profiler.json'
local memory = require 'dpt.profiler.memory'
local output = require 'dpt.output'
local scope = require 'dpt.device.scope'
local summary = require 'dpt.profiler.summary'
local expect = require 'dpt.class.expect'
local C, lib, ffi, fail = dptffi.C, dptffi.lib, dptffi.ffi, dptffi.fail

local profiler = {}

local RECORDS = 262144 -- of about 100 bytes each
local last
local ahead -- offset of the clock: seconds since 1970
local endOther -- ends the profile of `dpt --profile` while it is running

local function start(records)
   lib.trace_start(records)
   last, ahead = nil, C.dpt_epoch() - C.dpt_clock()
   scope.wrapMethods()
end

-- Starts the profile of `dpt --profile`. finish() must call _stop; it is called when the program
-- starts its own profile.
function profiler._start(finish)
   start(RECORDS)
   endOther = finish
end

--- Starts a profile of every device.
-- @function profiler.start
-- @as profiler
-- @param options? table: records = the largest number kept (262144, of about 100 bytes); later
--    records are counted and dropped
-- @return nothing
-- @usage local p = require('dpt').profiler
--    p.start{records = 1}
--    torch.CudaTensor(2):fill(1):add(1)
--    p.stop()
--    return (p.count()) --> 1
function profiler.start(options)
   options = options or {}
   expect('profiler.start', 'options', options, 'table')
   local records = options.records or RECORDS
   expect('profiler.start', 'records', records, 'number')
   if endOther then endOther() end
   start(records)
end

--- Returns true if the program's profile is running.
-- @function profiler.isRunning
-- @as profiler
-- @return a boolean
-- @usage local p = require('dpt').profiler
--    p.start()
--    local yes = p.isRunning()
--    p.stop()
--    return yes, p.isRunning() --> true, false
function profiler.isRunning() return C.dpt_trace_on()[0] ~= 0 and not endOther end

-- Returns this rank, from 0, and the number of ranks, from the launcher's variables: joining the
-- other ranks here would wait for those without a profile.
local function launcherRank()
   local function variable(...)
      for _, name in ipairs{...} do
         if tonumber(os.getenv(name)) then return tonumber(os.getenv(name)) end
      end
   end
   return variable('OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'SLURM_PROCID') or 0,
      variable('OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'SLURM_NTASKS') or 1
end

-- Returns the last profile; its events are created on first use.
local function profile(fn)
   if not last then
      fail('profiler.%s: there is no profile: %s', fn,
         profiler.isRunning() and 'stop it first' or 'start and stop one first')
   end
   if not last.events then
      local zero
      last.events, last.records, last.lost, zero = events(last.rank, last.ranks)
      last.started = zero + ahead
   end
   return last
end

-- Stops the running profile, which profiler.start or `dpt --profile` has started.
function profiler._stop(path)
   endOther = nil
   lib.trace_stop()
   scope.wrapMethods()
   last = {}
   last.rank, last.ranks = launcherRank()
   return path and profiler.save(path)
end

--- Stops the profile, after all queued work has run.
-- @function profiler.stop
-- @as profiler
-- @param path? string: of a file to write; with several ranks, each writes its own file, with
--    `.rankN` before the extension
-- @return the path
-- @usage local p, name = require('dpt').profiler, os.tmpname()
--    p.start{records = 100}
--    p.stop(name)
--    return paths.filep(name), os.remove(name) --> true, true
function profiler.stop(path)
   if path ~= nil then expect('profiler.stop', 'path', path, 'string') end
   if endOther then fail 'profiler: it does not run' end
   return profiler._stop(path)
end

--- Writes the last profile to a file, for `dpt timeline`, Perfetto and chrome://tracing.
-- @function profiler.save
-- @as profiler
-- @param path string: of the file
-- @return the path
-- @usage local p, name = require('dpt').profiler, os.tmpname()
--    p.start()
--    p.stop()
--    local file = io.open(p.save(name))
--    local text = file:read(24)
--    file:close()
--    os.remove(name)
--    return text --> {"displayTimeUnit":"ms",
function profiler.save(path)
   expect('profiler.save', 'path', path, 'string')
   local p = profile 'save'
   if p.ranks > 1 then
      local stem, suffix = path:match '^(.*)(%.[^./]*)$'
      path = ('%s.rank%d%s'):format(stem or path, p.rank, suffix or '')
   end
   output.replace('profiler', path, function(write)
      write('{"displayTimeUnit":"ms","otherData":' .. json.encode{
         dpt = ffi.string(C.dpt_version()), rank = p.rank, ranks = p.ranks, records = p.records,
         lost = p.lost, started = p.started, devices = ffi.string(C.dpt_device_report()),
      } .. ',"traceEvents":[\n')
      for i, e in ipairs(p.events) do write((i > 1 and ',\n' or '') .. json.encode(e)) end
      write '\n]}\n'
   end)
   return path
end

--- Returns the number of records in the last profile, and the number lost for lack of space.
-- @function profiler.count
-- @as profiler
-- @return two numbers
-- @usage local p = require('dpt').profiler
--    p.start()
--    p.stop()
--    return select(2, p.count()) --> 0
function profiler.count()
   local p = profile 'count'
   return p.records, p.lost
end

--- Returns the events of the last profile in Chrome's trace format.
-- @function profiler.events
-- @as profiler
-- @return a list of tables with ph, name, cat, pid (a device), tid (a stream), ts, dur
--    (microseconds) and args
-- @usage local p = require('dpt').profiler
--    p.start()
--    p.stop()
--    return type(p.events()) --> table
function profiler.events() return profile('events').events end

--- Summarizes where the last profile spent its time; tostring formats it as text.
-- @function profiler.summary
-- @as profiler
-- @return a table
-- @usage local p = require('dpt').profiler
--    p.start()
--    torch.CudaTensor(9):fill(1)
--    p.stop()
--    return type(p.summary()) --> table
function profiler.summary() return summary(profile('summary').events) end

--- Returns which modules held the devices' memory in the last profile.
-- @function profiler.memory
-- @as profiler
-- @return a table
-- @usage local p = require('dpt').profiler
--    p.start()
--    torch.CudaTensor(99):fill(1)
--    p.stop()
--    return type(p.memory()) --> table
function profiler.memory() return memory(profile('memory').events) end

--- Tags shared by the reference entries of dpt.profiler.
-- @pattern profiler
-- @within profiler
-- @follows dpt's own, in the sense of PyTorch's torch.profiler
-- @raise if an argument has the wrong type, or there is no profile

return profiler
