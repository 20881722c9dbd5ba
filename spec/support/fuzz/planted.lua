--- Plants faults that spec/torture/fuzz_spec.lua must find, to prove that the harness finds faults.
--
-- Invariant: DPT_FUZZ_PLANTED names the fault; it needs three lines, among others without effect.
local ffi = require 'ffi'
local torch = require('dpt').torch
ffi.cdef 'int raise(int signal);'

local M = {offers = {}}

local faults = {
   crash = function() ffi.C.raise(11) end,
   hang = function() while true do ffi.C.raise(0) end end,
   ending = function() os.exit(3) end,
   health = function() torch.setnumthreads = function() error 'gone' end end,
}

function M.offers.fault(armed)
   if armed == 2 then faults[os.getenv 'DPT_FUZZ_PLANTED']() end
end

local step = 0
local needed = {[7] = 'v[1] = 1', [13] = 'v[1] = v[1] and 2', [20] = 'fault(v[1])'}

function M.line(random)
   step = step + 1
   return needed[step] or ('v[%d] = %d'):format(1 + random(8), random(100))
end

return M
