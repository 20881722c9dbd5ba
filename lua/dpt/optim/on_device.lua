--- dpt.optim.on_device: runs an optimization method on the device of its parameters.
--
-- Invariant: intermediate results are on the device of the parameters, whichever device is current.
-- The script's functions run with the caller's current device.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local arguments = require 'dpt.optim.arguments'
local C = require('dpt.ffi').C

local isTensor = torch.isTensor

-- Returns f, wrapped to run with the device that is current now.
local function keepDevice(f)
   if not arguments.isCallable(f) then return f end -- the method raises
   local device = cutorch.getDevice()
   return function(...) return cutorch.withDevice(device, f, ...) end
end

--- Wraps a method.
-- @param method function(f1 .. fn, x, ...)
-- @param count n, the number of the script's functions before x
return function(method, count)
   return function(...)
      local x = select(count + 1, ...)
      local device = isTensor(x) and C.dpt_tensor_device(x) or 0
      if device == 0 or device == cutorch.getDevice() then return method(...) end
      local given = {...}
      for i = 1, count do given[i] = keepDevice(given[i]) end
      return cutorch.withDevice(device, method, unpack(given, 1, select('#', ...)))
   end
end
