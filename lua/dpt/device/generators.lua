--- dpt.device.generators: cutorch's random numbers: seeds and states of the devices' generators.
--
-- Invariant: what the states of all generators hold, with torch.getRNGState(), is all that is
-- needed to draw the same numbers again.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local ffi, lib, fail, type = dptffi.ffi, dptffi.lib, dptffi.fail, dptffi.type

local seedSlot = ffi.new 'uint64_t[1]'

local function toSeed(fn, seed)
   seed = core.checkNumber(fn, 'seed', seed)
   if seed % 1 ~= 0 or math.abs(seed) >= 2 ^ 63 then
      fail("%s: argument 'seed' is %s, wanted a whole number", fn, seed)
   end
   return ffi.cast('uint64_t', ffi.cast('int64_t', seed))
end

--- Adds the functions to cutorch. optionalDevice(fn, device) reads a device's number, 0 for nil.
return function(cutorch, optionalDevice)
   --- Seeds a device (the current one).
   function cutorch.manualSeed(seed, device)
      lib.device_manual_seed(optionalDevice('manualSeed', device), toSeed('manualSeed', seed))
   end

   --- Seeds every device with the same number.
   function cutorch.manualSeedAll(seed)
      seed = toSeed('manualSeedAll', seed)
      for i = 1, cutorch.getDeviceCount() do lib.device_manual_seed(i, seed) end
   end

   --- Seeds a device (the current one) at random; returns the seed.
   function cutorch.seed(device)
      lib.device_seed(optionalDevice('seed', device), seedSlot)
      return tonumber(seedSlot[0])
   end

   --- Seeds every device at random, each with a number of its own.
   function cutorch.seedAll()
      for i = 1, cutorch.getDeviceCount() do lib.device_seed(i, seedSlot) end
   end

   --- The seed that a device (the current one) was given last.
   function cutorch.initialSeed(device)
      lib.device_initial_seed(optionalDevice('initialSeed', device), seedSlot)
      return tonumber(seedSlot[0])
   end

   --- The state of a device's generator, as a torch.ByteTensor.
   function cutorch.getRNGState(device)
      local state = core.fresh(core.BYTE)
      lib.device_rng_get(optionalDevice('getRNGState', device), state)
      return state
   end

   function cutorch.setRNGState(state, device)
      if not torch.isTensor(state) then
         fail("setRNGState: argument 'state' is of type %s, wanted what getRNGState returned",
            torch.type(state))
      end
      lib.device_rng_set(optionalDevice('setRNGState', device), state)
   end

   --- The states of all devices' generators, as a list; what a checkpoint needs beside
   -- torch.getRNGState() (as PyTorch's torch.cuda.get_rng_state_all).
   function cutorch.getRNGStateAll()
      local states = {}
      for i = 1, cutorch.getDeviceCount() do states[i] = cutorch.getRNGState(i) end
      return states
   end

   --- Sets the generators of all devices to what getRNGStateAll returned.
   function cutorch.setRNGStateAll(states)
      local count = cutorch.getDeviceCount()
      if type(states) ~= 'table' or #states ~= count then
         fail('setRNGStateAll: got %s, wanted a list of %d states, one for each device',
            type(states) == 'table' and 'a list of ' .. #states or torch.type(states), count)
      end
      for i = 1, count do cutorch.setRNGState(states[i], i) end
   end
end
