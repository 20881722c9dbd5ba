--- dpt.parallel.dispatch.random: coordinates the random numbers that replicas draw in one pass.
--
-- Invariant: every replica starts from the generator state of the first one's device, which is
-- advanced past all draws after the pass. So a pass draws for the rows of a batch what one device
-- would draw; draws without rows differ between replicas (csrc/device/draws.h). Modules hold none
-- of this: the states of the devices' generators (cutorch.getRNGState) suffice to repeat the draws.
local dptffi = require 'dpt.ffi'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local errors = require 'dpt.parallel.dispatch.errors'

local random = {}

local pass = ffi.new 'dpt_pass'
local SIZE = ffi.sizeof(pass)

local LANE = 1024 -- exceeds the number of replicas of a process
local ALONE = LANE - 1

local first, lane = 0, 0 -- first row of this process; base of its replicas' numbers

--- Calls f(...). The batch of a pass that f runs is one part of a batch of several processes.
-- @param row number of rows of earlier processes
-- @param rank rank of this process, from 0
-- @return the results of f
function random.withOffset(row, rank, f, ...)
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

--- Advances a device's generator to an offset.
function random.advance(device, offset)
   lib.pass_make(pass, device)
   pass.offset = offset
   lib.pass_enter(pass)
   C.dpt_pass_leave()
end

--- Returns the passes of the first `count` replicas, each as a string that can be sent to a thread.
-- @param device of replica 1
-- @param before list: the number of rows before each replica's part, then the total
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

-- Of the running pass in this Lua state: the number of its replica, its own number, whether other
-- processes have rows of its batch, and its bytes. Then the number of passes so far.
local replica, number, shared, current = nil, 0, false, nil
local passes = 0

--- Returns the number of the replica whose pass runs in this Lua state, or nil if the pass has only
-- one replica; and the number of the pass.
function random.running() return replica, number end

--- Returns true if the pass that runs in this Lua state has rows of a batch of several processes.
function random.isShared() return shared or lane > 0 end

-- Enters a pass: draws use its state.
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
-- @param bytes the pass; nil: calls f outside of any pass
-- @return the results of f
function random.within(bytes, f, ...)
   if not bytes then return f(...) end
   local outer, outerShared, outerBytes = replica, shared, current
   enter(bytes)
   passes = passes + 1
   number = passes
   return leave(outer, outerShared, outerBytes, xpcall(f, errors.handler, ...))
end

local here = ffi.new 'dpt_pass'

-- Returns the running pass of this Lua state from its next draw on; without one, a pass that draws
-- what the current device would.
local function rest()
   local device = ffi.new 'int[1]'
   lib.device_get(device)
   lib.pass_make(here, device[0])
   if not current then return ffi.string(here, SIZE) end
   ffi.copy(pass, current, SIZE)
   pass.seed, pass.offset = here.seed, here.offset
   return ffi.string(pass, SIZE)
end

local function copyGenerator()
   local copy = torch.Generator()
   C.dpt_generator_copy(copy.ptr_, core.generator())
   return copy
end

local function setGenerator(copy) C.dpt_generator_copy(core.generator(), copy.ptr_) end

local outside = nil -- while `again` runs: the default generator's state outside of it

--- Leaves the running pass of this Lua state, and `again`, if any: others may run until they are
-- resumed.
-- @return value for resume
function random.suspend()
   if not current and not outside then return nil end
   local left = {}
   if current then
      left.bytes, left.number = rest(), number
      C.dpt_pass_leave()
      replica, shared, current = nil, false, nil
   end
   if outside then
      left.generator = copyGenerator()
      setGenerator(outside)
      outside = nil
   end
   return left
end

--- Resumes a suspended pass.
function random.resume(left)
   if not left then return end
   if left.bytes then
      enter(left.bytes)
      number = left.number
   end
   if left.generator then
      outside = copyGenerator()
      setGenerator(left.generator)
   end
end

--- Returns the state from which `again` repeats the following draws: of the default generator and,
-- with onDevice, of the current device or the running pass.
function random.fromHere(onDevice)
   return {generator = copyGenerator(), bytes = onDevice and rest() or nil}
end

-- Ends `again`: restores the generators, that of the device if its state was kept.
local function restore(left, device, state, ok, ...)
   setGenerator(outside)
   outside = nil
   if state then lib.device_rng_set(device, state) end
   random.resume(left)
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...), which draws the numbers that were drawn after fromHere() had returned `state`. The
-- generators have the same states before and after.
-- @return the results of f
function random.again(state, f, ...)
   local left, device, own = random.suspend(), nil, nil
   if state.bytes then
      ffi.copy(pass, state.bytes, SIZE)
      local offset = pass.offset
      device = pass.device
      lib.pass_make(here, device)
      if here.offset < offset then -- seeded since: the end of the pass could advance it
         own = core.fresh(core.BYTE)
         lib.device_rng_get(device, own)
      end
   end
   outside = copyGenerator()
   setGenerator(state.generator)
   return restore(left, device, own, pcall(random.within, state.bytes, f, ...))
end

return random
