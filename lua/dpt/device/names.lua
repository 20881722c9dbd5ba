--- dpt.device.names: the rest of cutorch's names: those that concern CUDA only, and those without
-- effect.
--
-- Invariant: a script that calls one of these continues as with Torch7 if nothing has to be done,
-- and gets an error message if dpt has no equivalent.
local dptffi = require 'dpt.ffi'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail

--- Raises an error that gives the reason and the alternative: dpt has no such function.
-- @function cutorch.test
-- @as cutorch
-- @also cutorch.createCudaUVATensor()
-- @also cutorch.createFloatUVATensor()
-- @also cutorch.toCudaUVATensor()
-- @also cutorch.toFloatUVATensor()
-- @return nothing
-- @usage select(2, pcall(cutorch.createFloatUVATensor, 2)):match 'dpt has.*'
--    --> dpt has no managed memory: use createCudaHostTensor (page-locked)
local absent = {
   test = "Torch7's own tests are not part of dpt; scripts/test in its repository runs dpt's",
   createFloatUVATensor = 'dpt has no managed memory: use createCudaHostTensor (page-locked)',
}
for _, name in ipairs{'createCudaUVATensor', 'toFloatUVATensor', 'toCudaUVATensor'} do
   absent[name] = absent.createFloatUVATensor
end

--- Adds the functions to cutorch. whole(fn, name, v) reads a whole number from an argument.

--- Stores a handle's number; reserve makes the number valid.
-- @function cutorch.setBlasHandle
-- @as cutorch
-- @also cutorch.setSparseHandle()
-- @also cutorch.reserveBlasHandles()
-- @also cutorch.reserveSparseHandles()
-- @param n number: from 1 on
-- @return nothing
-- @usage cutorch.reserveBlasHandles(2)
--    cutorch.setBlasHandle(2)
--    local n = cutorch.getBlasHandle()
--    cutorch.setBlasHandle(1)
--    return n --> 2

return function(cutorch, whole)
   -- dpt itself chooses the handle of a library; the numbers are only stored.
   --- Returns the number that was set. dpt itself chooses the handle of cuBLAS or cuSPARSE.
   -- @function cutorch.getBlasHandle
   -- @as cutorch
   -- @also cutorch.getSparseHandle()
   -- @also cutorch.getNumBlasHandles()
   -- @also cutorch.getNumSparseHandles()
   -- @return a number
   -- @usage cutorch.getBlasHandle(), cutorch.getNumSparseHandles() --> 1, 1
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
            fail("%s: argument 'n': no handle %d, wanted 1 to %d; call reserve%sHandles(%d) first",
               setName, n, count, library, n)
         end
         current = n
      end

      cutorch['get' .. library .. 'Handle'] = function() return current end
   end

   --- Does nothing: Lua's collector always takes the memory of tensors into account.
   -- @function cutorch.setHeapTracking
   -- @as cutorch
   -- @param on boolean: ignored
   -- @return nothing
   -- @usage cutorch.setHeapTracking(true)
   function cutorch.setHeapTracking() end

   --- Does nothing, as in later versions of cutorch.
   -- @function cutorch.deviceReset
   -- @as cutorch
   -- @return nothing
   -- @usage cutorch.deviceReset()
   function cutorch.deviceReset() end

   --- Allows GPUs to round the operands of float products and convolutions to 10 bits (TF32), which
   -- is several times as fast; off by default. Applies to the whole process; host devices are not
   -- affected.
   -- @function cutorch.setTF32
   -- @as cutorch
   -- @param on boolean: true allows it
   -- @return nothing
   -- @usage cutorch.setTF32(true)
   --    local on = cutorch.getTF32()
   --    cutorch.setTF32(false)
   --    return on, cutorch.getTF32() --> true, false
   function cutorch.setTF32(on) C.dpt_tf32_set(on and 1 or 0) end

   --- Returns true if products may be rounded to TF32.
   -- @function cutorch.getTF32
   -- @as cutorch
   -- @return a boolean
   -- @usage cutorch.getTF32() --> false
   function cutorch.getTF32() return C.dpt_tf32_get() ~= 0 end

   cutorch._state = ffi.new 'struct { int nothing; }'

   --- Returns a placeholder for cutorch's global state; C libraries that need a THCState cannot use
   -- it.
   -- @function cutorch.getState
   -- @as cutorch
   -- @return C data
   -- @usage type(cutorch.getState()) --> cdata
   function cutorch.getState() return cutorch._state end

   --- Returns false: dpt does not allocate managed memory.
   -- @function cutorch.isManaged
   -- @as cutorch
   -- @also cutorch.isManagedPtr()
   -- @param value any: ignored
   -- @return false
   -- @usage cutorch.isManaged(torch.CudaTensor(1)) --> false
   function cutorch.isManaged() return false end
   cutorch.isManagedPtr = cutorch.isManaged

   for name, why in pairs(absent) do
      cutorch[name] = function() fail('cutorch.%s: %s', name, why) end
   end
end
