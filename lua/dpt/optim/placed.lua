--- dpt.optim.placed: lets a method of descent run where its parameters are.
--
-- Invariant: intermediate results lie on the device of the parameters, whichever is current. The
-- script's functions are called with the device current that the caller had.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local arguments = require 'dpt.optim.arguments'
local C = require('dpt.ffi').C

local isTensor = torch.isTensor

-- f, with the device current that is so now.
local function staying(f)
   if not arguments.isCallable(f) then return f end -- the method rejects it
   local device = cutorch.getDevice()
   return function(...) return cutorch.withDevice(device, f, ...) end
end

--- A method with this in front.
-- @param method function(f1 .. fn, x, ...)
-- @param count n, how many functions of the script stand before x
return function(method, count)
   return function(...)
      local x = select(count + 1, ...)
      local device = isTensor(x) and C.dpt_tensor_device(x) or 0
      if device == 0 or device == cutorch.getDevice() then return method(...) end
      local given = {...}
      for i = 1, count do given[i] = staying(given[i]) end
      return cutorch.withDevice(device, method, unpack(given, 1, select('#', ...)))
   end
end
