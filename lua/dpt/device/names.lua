--- dpt.device.names: the rest of cutorch's names: what belongs to CUDA alone, or needs nothing.
--
-- Invariant: a script that calls one of these goes on as on Torch7 if there is nothing to do,
-- and gets an error message if dpt has no such thing.
local dptffi = require 'dpt.ffi'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail

local absent = {
   test = "Torch7's own tests are not part of dpt; scripts/test in its repository runs dpt's",
   createFloatUVATensor = 'dpt has no managed memory: use createCudaHostTensor (page-locked)',
}
for _, name in ipairs{'createCudaUVATensor', 'toFloatUVATensor', 'toCudaUVATensor'} do
   absent[name] = absent.createFloatUVATensor
end

--- Adds the functions to cutorch. whole(fn, name, v) reads a whole number from an argument.
return function(cutorch, whole)
   -- Which handle of a library computes is dpt's own affair; the numbers are kept as set.
   for _, library in ipairs{'Blas', 'Sparse'} do
      local count, current = 1, 1
      local setName = 'set' .. library .. 'Handle'

      cutorch['reserve' .. library .. 'Handles'] = function(n)
         count = math.max(count, whole('reserve' .. library .. 'Handles', 'n', n))
      end

      cutorch['getNum' .. library .. 'Handles'] = function() return count end

      cutorch[setName] = function(n)
         n = whole(setName, 'n', n)
         if n < 1 or n > count then
            fail("%s: there is no handle %d, there are %d: first call reserve%sHandles(%d)",
               setName, n, count, library, n)
         end
         current = n
      end

      cutorch['get' .. library .. 'Handle'] = function() return current end
   end

   --- The collector always knows the memory of tensors.
   function cutorch.setHeapTracking() end

   --- Nothing: cutorch had stopped doing it.
   function cutorch.deviceReset() end

   --- Lets GPUs round the operands of float products and convolutions to 10 bits (TF32), which is
   -- several times as fast; off at first. It is for the whole process; host devices compute as
   -- before.
   function cutorch.setTF32(on) C.dpt_tf32_set(on and 1 or 0) end
   function cutorch.getTF32() return C.dpt_tf32_get() ~= 0 end

   cutorch._state = ffi.new 'struct { int nothing; }'

   --- What stands for cutorch's global state; C libraries that want a THCState can't use it.
   function cutorch.getState() return cutorch._state end

   --- Whether a tensor or storage lies in managed memory, of which dpt makes none.
   function cutorch.isManaged() return false end
   cutorch.isManagedPtr = cutorch.isManaged

   for name, why in pairs(absent) do
      cutorch[name] = function() fail('cutorch.%s: %s', name, why) end
   end
end
