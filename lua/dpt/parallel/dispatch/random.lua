--- dpt.parallel.dispatch.random: lets the random numbers that replicas draw in one pass belong
-- together.
--
-- Invariant: every replica begins with the numbers of the first one's device, which afterwards goes
-- on behind what was drawn: so a pass draws for the rows of a batch what one device would, and what
-- is not drawn by rows differs from replica to replica (csrc/device/draws.h). Nothing of this is in
-- a module: the states of the devices' generators (cutorch.getRNGState) are all that must be kept
-- to draw the same again.
local dptffi = require 'dpt.ffi'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib
local errors = require 'dpt.parallel.dispatch.errors'

local random = {}

local pass = ffi.new 'dpt_pass'
local SIZE = ffi.sizeof(pass)

local LANE = 1024 -- more than a process has replicas
local ALONE = LANE - 1

local first, lane = 0, 0 -- where the rows of this process begin; above what others' replicas have

--- Calls f(...); the batch of a pass in it is a part of one that several processes have.
-- @param row how many rows of it processes before this one have
-- @param rank of this process, from 0
-- @return what f returns
function random.from(row, rank, f, ...)
   local outerRow, outerLane = first, lane
   first, lane = row, (rank + 1) * LANE
   local results = {pcall(f, ...)}
   first, lane = outerRow, outerLane
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

--- Returns the offset of a device's generator.
function random.offset(device)
   lib.pass_make(pass, device)
   return tonumber(pass.offset)
end

--- Lets it go on from an offset behind that.
function random.advance(device, offset)
   lib.pass_make(pass, device)
   pass.offset = offset
   lib.pass_enter(pass)
   C.dpt_pass_leave()
end

--- The passes of the first `count` replicas, each as a string that can be sent to a thread.
-- @param device of replica 1
-- @param before list of the rows before each replica's first, and of all
-- @return list of strings
function random.passes(device, before, count)
   local list = {}
   lib.pass_make(pass, device)
   for i = 1, count do
      pass.first_row, pass.rows = first + before[i], before[i + 1] - before[i]
      pass.replica = lane + (count > 1 and i or lane > 0 and ALONE or 0)
      list[i] = ffi.string(pass, SIZE)
   end
   return list
end

-- whose pass runs in this Lua state, which one it is; whether other processes have rows of it; its
-- bytes; how many there were
local replica, number, shared, current = nil, 0, false, nil
local passes = 0

--- The replica of several whose pass runs in this Lua state, nil in none; the number of the pass.
function random.running() return replica, number end

--- Returns true if the pass that runs in this Lua state has rows of a batch of several processes.
function random.isShared() return shared or lane > 0 end

-- Whose draws begin.
local function enter(bytes)
   ffi.copy(pass, bytes, SIZE)
   lib.pass_enter(pass)
   local own = pass.replica % LANE
   replica = own > 0 and own < ALONE and own or nil
   shared, current = pass.replica >= LANE, bytes
end

local function leave(outer, outerShared, outerBytes, ok, ...)
   C.dpt_pass_leave()
   replica, shared, current = outer, outerShared, outerBytes
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...) in a pass, on its replica's device.
-- @param bytes the pass; nil: in none
-- @return what f returns
function random.within(bytes, f, ...)
   if not bytes then return f(...) end
   local outer, outerShared, outerBytes = replica, shared, current
   enter(bytes)
   passes = passes + 1
   number = passes
   return leave(outer, outerShared, outerBytes, xpcall(f, errors.handler, ...))
end

local here = ffi.new 'dpt_pass'

--- Leaves the pass that runs in this Lua state, if one does: others may run until it is resumed.
-- @return what resume takes
function random.suspend()
   if not current then return nil end
   local device = ffi.new 'int[1]'
   lib.device_get(device)
   lib.pass_make(here, device[0])
   ffi.copy(pass, current, SIZE)
   pass.seed, pass.offset = here.seed, here.offset
   local left = {bytes = ffi.string(pass, SIZE), number = number}
   C.dpt_pass_leave()
   replica, shared, current = nil, false, nil
   return left
end

--- Resumes a suspended pass.
function random.resume(left)
   if not left then return end
   enter(left.bytes)
   number = left.number
end

return random
