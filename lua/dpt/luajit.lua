--- dpt.luajit: gives LuaJIT's compiler more memory for machine code, and works around its faults.
--
-- Invariant: a trace with the following fault of LuaJIT 2.1.0-beta3 on x64 is discarded as soon as
-- it is compiled, before it runs. Versions from September 2021 to April 2022 have the fault, Debian
-- 12's among them: if registers are scarce in a loop over `pairs`, the compiler swaps the two
-- results of the call that finds the next entry, rax and edx, by a 32-bit instruction. The
-- truncated pointer in rax crashes the process. After the first such trace, functions that loop
-- over `pairs` are recorded while a trace is recorded; those of the next faulty trace are
-- interpreted from then on. The function in which the trace began is not: it may be a function of
-- dpt that every script calls, with the loop in a caller. Later versions do not have this fault.
--
-- In beta3, traces of such a loop also keep running after LuaJIT has given up compiling the loop.
-- The loop then stores its last key where they expect the index of an entry, which they do not
-- check before April 2022: a trace that returns into the loop from a function called there ends the
-- loop early. All traces are discarded as soon as a loop is given up: when recording a trace that
-- begins at the loop fails, and the loop's instruction has changed.
--
-- In all versions, fusing loads into the instructions that use them is disabled: on x64 loads move
-- after calls of C functions that write there (`x:dot(y) < y:dot(y)` compared a number with
-- itself), on ARM64 beta3 reads wrong struct elements. It stays disabled if scripts set compiler
-- options.
local util = require 'jit.util'

local M = {}

-- A training script has more traces than LuaJIT's default limit of 1000, at which it discards them
-- all and recompiles everything.
local opt = require 'jit.opt'
local start = opt.start
function opt.start(...)
   start(...)
   start('-fuse')
end
opt.start('maxtrace=8000', 'maxmcode=8192')

local program = util.funcinfo(print).addr -- an address near LuaJIT's own code
local NEAR = 2 ^ 21

-- Returns the signed 32-bit displacement of the call at that byte of the code.
local function displacement(code, at)
   local a, b, c, d = code:byte(at + 1, at + 4)
   return bit.tobit(a + b * 2 ^ 8 + c * 2 ^ 16 + d * 2 ^ 24)
end

-- Returns the position after the stores of rax and edx to the stack that begin at that byte.
local function afterStores(code, at)
   for _ = 1, 2 do
      at = code:match('^H?\x89[DT]$.()', at) or code:match('^H?\x89[\x84\x94]$....()', at) or at
   end
   return at
end

--- Returns true if machine code calls a LuaJIT function, stores its results if they have stack
-- slots, and then executes `xchg eax, edx`.
-- @param code a string of bytes
-- @param address of the first byte
function M.faulty(code, address)
   if not code:find('\x92', 1, true) then return false end
   local at = code:find('\xe8', 1, true)
   while at and at + 5 <= #code do
      local target = address + at + 4 + displacement(code, at)
      if math.abs(target - program) < NEAR and code:byte(afterStores(code, at + 5)) == 0x92 then
         return true
      end
      at = code:find('\xe8', at + 1, true)
   end
   return false
end

-- Attaches a handler. LuaJIT has one per kind of event: that of jit.v or jit.dump is called first.
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

local loops -- in the trace being recorded: set of functions that loop over pairs; nil: not recorded
local began, caller
local loopAt -- position in the function where the trace begins, if it is a loop over pairs

--- Returns the opcodes of a function that consists of the loop `for _ in NAME(t) do end`.
local function loopOver(name)
   local loop, list = loadstring(('local %s, t = ... for _ in %s(t) do end'):format(name, name)), {}
   while util.funcbc(loop, #list) do list[#list + 1] = bit.band(util.funcbc(loop, #list), 255) end
   return list
end

--- Opcode of loops over pairs: the last one that differs in a loop over another function.
-- (jit.vmdef has its name, but is not found if LUA_PATH omits LuaJIT's own folder, as that of
-- luarocks does.)
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

local function discardTraces()
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
      discardTraces()
   elseif what == 'abort' and loopAt and not isLoop(began, loopAt) then
      jit.flush()
   end
end

if jit.version == 'LuaJIT 2.1.0-beta3' then attach('trace', check) end

return M
