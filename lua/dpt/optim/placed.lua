--- dpt.optim.placed: lets a method of descent run where its parameters are.
--
-- Invariant: state and intermediate results lie on the device of the parameters, whichever is
-- current; state that lies elsewhere (loaded from a file, or the parameters have moved) is brought
-- there once. The script's functions are called with the device current that the caller had.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type

local isTensor = torch.isTensor
local home = setmetatable({}, {__mode = 'k'}) -- by table of state: the device where its tensors are

-- Brings what a method kept for x, tensors of as many elements and lists of them, to the current
-- device. A config may hold other things of the script: they stay.
local function move(kept, x, device, inside)
   for key, value in pairs(kept) do
      if isTensor(value) then
         local there = C.dpt_tensor_device(value)
         if there > 0 and there ~= device and value:nElement() == x:nElement() then
            kept[key] = value:clone()
         end
      elseif not inside and torch.type(value) == 'table' then
         move(value, x, device, true)
      end
   end
end

local function bring(kept, x, device)
   if type(kept) ~= 'table' or home[kept] == device then return end
   cutorch.withDevice(device, move, kept, x, device)
   home[kept] = device
end

-- f, with the device current that is so now.
local function staying(f)
   if type(f) ~= 'function' then return f end -- the method says what it thinks of it
   local device = cutorch.getDevice()
   return function(...) return cutorch.withDevice(device, f, ...) end
end

--- A method with this in front.
-- @param method function(f1 .. fn, x, config, state, ...)
-- @param count n, how many functions of the script stand before x
return function(method, count)
   return function(...)
      local x, config, state = select(count + 1, ...)
      local device = isTensor(x) and C.dpt_tensor_device(x) or 0
      if device == 0 then return method(...) end
      bring(config, x, device)
      bring(state, x, device)
      if device == cutorch.getDevice() then return method(...) end
      local given = {...}
      for i = 1, count do given[i] = staying(given[i]) end
      return cutorch.withDevice(device, method, unpack(given, 1, select('#', ...)))
   end
end
