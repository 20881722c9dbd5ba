--- What dpt asks of LuaJIT's compiler: more memory for machine code, and none that is wrong.
--
-- Invariant: no trace stays whose code has the fault of LuaJIT 2.1.0-beta3 on x64 as it was from
-- September 2021 to April 2022 (Debian 12 has it): if registers are scarce in a loop over `pairs`,
-- it exchanges the two results of the call that finds the next entry, rax and edx, by an
-- instruction for 32 bits. What is left of the pointer in rax ends the process. Such a trace is
-- thrown away as soon as it is compiled, before it runs. From the first such trace on it is noted
-- which functions loop over `pairs` in the trace that is being recorded; those of the next faulty
-- one are interpreted from then on. Not the function that it began in: that may be a function of
-- dpt's which every script calls, with the loop in a caller. Later versions have no such fault.
--
-- Beta3 also has traces of such a loop go on running when LuaJIT has given up compiling the loop.
-- The loop then keeps its last key where they expect the index of an entry, which they do not check
-- until April 2022: a trace that returns into the loop from a function that is called there ends it
-- early. All traces are thrown away as soon as a loop is given up. That is when recording a trace
-- that begins at the loop fails: its instruction is then another.
--
-- No version fuses loads into the instructions that use what is loaded: on x64 they move behind
-- calls of C functions that write there (`x:dot(y) < y:dot(y)` compared a number with itself), on
-- ARM64 beta3 takes wrong elements of structs. Scripts that set the compiler's options keep that.
local util = require 'jit.util'

local M = {}

-- A training script has more traces than LuaJIT's default of 1000, at which it drops them all and
-- compiles everything anew.
local opt = require 'jit.opt'
local start = opt.start
function opt.start(...)
   start(...)
   start('-fuse')
end
opt.start('maxtrace=8000', 'maxmcode=8192')

local program = util.funcinfo(print).addr -- LuaJIT's own code is near it
local NEAR = 2 ^ 21

-- The 32 bits, signed, that a call at that byte of the code has.
local function displacement(code, at)
   local a, b, c, d = code:byte(at + 1, at + 4)
   return bit.tobit(a + b * 2 ^ 8 + c * 2 ^ 16 + d * 2 ^ 24)
end

--- Whether machine code calls a function of LuaJIT's and goes on with `xchg eax, edx`.
-- @param code a string of bytes
-- @param address of the first one
function M.faulty(code, address)
   local at = code:find('\xe8....\x92')
   while at do
      local target = address + at + 4 + displacement(code, at)
      if math.abs(target - program) < NEAR then return true end
      at = code:find('\xe8....\x92', at + 1)
   end
   return false
end

-- LuaJIT has one handler for each kind of event: that of jit.v or jit.dump goes on being called.
local function attach(event, handler)
   local before, previous = {}
   for key, other in pairs(debug.getregistry()._VMEVENTS or {}) do before[key] = other end
   local function handle(...)
      if previous then previous(...) end
      handler(...)
   end
   jit.attach(handle, event)
   for key, other in pairs(debug.getregistry()._VMEVENTS) do
      if other == handle then previous = before[key] end
   end
end

local loops -- of the trace that is being recorded: functions that loop over pairs; nil: not noted
local began, caller
local loopAt -- where it begins in the function, if that is at a loop over pairs

--- The instructions of a loop over what a function of that name returns.
local function loopOver(name)
   local loop, list = loadstring(('local %s, t = ... for _ in %s(t) do end'):format(name, name)), {}
   while util.funcbc(loop, #list) do list[#list + 1] = bit.band(util.funcbc(loop, #list), 255) end
   return list
end

--- The instruction of loops over pairs: what such a loop has last of its own. (jit.vmdef has it by
-- its name, but is not found where LUA_PATH leaves out LuaJIT's own folder, as luarocks' does.)
local ITERN
local others = loopOver 'others'
for i, code in ipairs(loopOver 'pairs') do
   if code ~= others[i] then ITERN = code end
end
M.ITERN = ITERN

local function isLoop(func, at) return bit.band(util.funcbc(func, at), 255) == ITERN end

local function note(_, func, at)
   if func == next then
      loops[caller] = true
   elseif at >= 0 then
      if isLoop(func, at) then loops[func] = true end
      caller = func
   end
end

local function throwAway()
   if not loops then
      attach('record', note)
   else
      if not next(loops) then loops[began] = true end
      for func in pairs(loops) do jit.off(func) end
   end
   loops = {}
   jit.flush()
end

local function check(what, trace, func, at)
   if what == 'start' then
      began, caller = func, func
      loopAt = isLoop(func, at) and at
      loops = loops and {}
   elseif what == 'stop' and jit.arch == 'x64' and M.faulty(util.tracemc(trace)) then
      throwAway()
   elseif what == 'abort' and loopAt and not isLoop(began, loopAt) then
      jit.flush()
   end
end

if jit.version == 'LuaJIT 2.1.0-beta3' then attach('trace', check) end

return M
