--- Shared by programs of several ranks: tensors to send, and faults to cause.
--
-- Invariant: tensors of given() contain small integers, so that sums and means of up to five ranks
-- are exact in every type.
local ffi = require 'ffi'
local core = require 'dpt.tensor.core'
local distributed = require 'dpt.distributed'
local C = require('dpt.ffi').C
local cutorch = require('dpt').cutorch
ffi.cdef [[
   int getpid(void);
   int kill(int, int);
   int setenv(const char *, const char *, int);
]]

local script = {}

--- Sets DPT_TIMEOUT from now on.
function script.limit(seconds) ffi.C.setenv('DPT_TIMEOUT', tostring(seconds), 1) end

function script.sleep(seconds) C.dpt_sleep(seconds) end

function script.signal(number)
   ffi.C.kill(ffi.C.getpid(), number)
   C.dpt_sleep(0.01)
end

--- Makes each operation of this rank take at least as long as on a link of that speed, such as
-- '1MB/s'.
function script.link(speed) C.dpt_link_set(speed) end

--- Delays the current device by that many seconds.
function script.busy(seconds) cutorch.streamSleep(1000 * seconds) end

script.kinds = {}   -- names of all kinds, of the host and of devices
script.reals = {}   -- name of a real type -> true
script.reduced = {} -- names of the reduced types
script.wires = {}   -- the reduced types as arguments: 'half', 'bfloat16'
for _, side in ipairs{0, core.ON_DEVICE} do
   for dtype = 0, #core.elements do
      local name = core.tensorNames[dtype + side]
      table.insert(script.kinds, name)
      script.reals[name] = core.elements[dtype].isReal or nil
      if core.elements[dtype].isReduced then
         table.insert(script.reduced, name)
         if side == 0 then table.insert(script.wires, core.methodNames[dtype]) end
      end
   end
end

--- Returns a tensor of `count` elements that depend on the seed, a number.
function script.given(seed, kind, count)
   if count == 0 then return torch.DoubleTensor():type(kind) end
   return (torch.range(1, count) * 3 + seed * 7):remainder(11):remainder(5):type(kind)
end

--- Raises unless the elements are equal to those wanted, rounded to their type, for any layout.
function script.equal(got, wanted, what)
   local g, w = got:contiguous():double(), wanted:contiguous():type(got:type()):double()
   local off = g:nElement() - w:nElement()
   if off == 0 and g:nElement() > 0 then off = (g:view(-1) - w:view(-1)):abs():max() end
   if off ~= off or math.abs(off) > 4e-3 then
      error(('%s: a wrong result on rank %d: %s of %d elements, wanted %d'):format(what,
         distributed.rank(), got:type(), g:nElement(), w:nElement()), 2)
   end
end

--- Returns the resident memory of this process in kilobytes.
function script.resident()
   for line in io.lines '/proc/self/status' do
      local kilobytes = line:match '^VmRSS:%s+(%d+) kB'
      if kilobytes then return tonumber(kilobytes) end
   end
end

--- Runs each check on all ranks; rank 0 prints its name when all have passed it.
-- @param names in the order in which they run
function script.run(names, checks)
   for _, name in ipairs(names) do
      checks[name]()
      cutorch.synchronizeAll()
      distributed.barrier()
      if distributed.rank() == 0 then print(name .. ' holds') end
   end
end

return script
