--- dpt.device.generators: random numbers of cutorch: seeds and states of the devices' generators.
--
-- Invariant: the states of all generators, together with torch.getRNGState(), are all that is
-- needed to draw the same numbers again.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local seeding = require 'dpt.tensor.seeding'
local torch = require('dpt.class').torch
local ffi, lib, fail, type = dptffi.ffi, dptffi.lib, dptffi.fail, dptffi.type

local seedSlot = ffi.new 'uint64_t[1]'

local function toSeed(fn, seed)
   seed = core.checkNumber(fn, 'seed', seed)
   if seed % 1 ~= 0 or math.abs(seed) >= 2 ^ 63 then
      fail("%s: argument 'seed' is %s, wanted an integer", fn, seed)
   end
   return ffi.cast('uint64_t', ffi.cast('int64_t', seed))
end

--- Adds the functions to cutorch. optionalDevice(fn, device) reads a device's number, 0 for nil.
return function(cutorch, optionalDevice)

   -- Calls note(number of the device, its seed).
   local function noted(note, device)
      if device == 0 then device = cutorch.getDevice() end
      note(device, cutorch.initialSeed(device))
   end

   --- Seeds a device (the current one).
   -- @function cutorch.manualSeed
   -- @as cutorch
   -- @param seed number: a whole number
   -- @param device? number: from 1 on (the current one)
   -- @return nothing
   -- @usage cutorch.manualSeed(3)
   --    local a = torch.CudaTensor(2):uniform()
   --    cutorch.manualSeed(3)
   --    return a - torch.CudaTensor(2):uniform() --> [0 0]
   function cutorch.manualSeed(seed, device)
      device = optionalDevice('manualSeed', device)
      lib.device_manual_seed(device, toSeed('manualSeed', seed))
      noted(seeding.choose, device)
   end

   --- Seeds every device with the same number.
   -- @function cutorch.manualSeedAll
   -- @as cutorch
   -- @param seed number: a whole number
   -- @return nothing
   -- @usage cutorch.manualSeedAll(7) return cutorch.initialSeed(2) --> 7
   function cutorch.manualSeedAll(seed)
      toSeed('manualSeedAll', seed)
      for i = 1, cutorch.getDeviceCount() do cutorch.manualSeed(seed, i) end
   end

   --- Seeds a device at random.
   -- @function cutorch.seed
   -- @as cutorch
   -- @param device? number: from 1 on (the current one)
   -- @return the seed
   -- @usage cutorch.seed() - cutorch.initialSeed() --> 0
   function cutorch.seed(device)
      device = optionalDevice('seed', device)
      lib.device_seed(device, seedSlot)
      noted(seeding.forget, device)
      return tonumber(seedSlot[0])
   end

   --- Seeds every device at random, each with a different number.
   -- @function cutorch.seedAll
   -- @as cutorch
   -- @return nothing
   -- @usage cutorch.seedAll()
   --    return cutorch.initialSeed(1), cutorch.initialSeed(2) -- two numbers, not the same
   function cutorch.seedAll()
      for i = 1, cutorch.getDeviceCount() do cutorch.seed(i) end
   end

   --- Returns the last seed of a device.
   -- @function cutorch.initialSeed
   -- @as cutorch
   -- @param device? number: from 1 on (the current one)
   -- @return a number
   -- @usage cutorch.manualSeed(12, 1) return cutorch.initialSeed(1) --> 12
   function cutorch.initialSeed(device)
      lib.device_initial_seed(optionalDevice('initialSeed', device), seedSlot)
      return tonumber(seedSlot[0])
   end

   --- Returns the state of a device's random number generator.
   -- @function cutorch.getRNGState
   -- @as cutorch
   -- @param device? number: from 1 on (the current one)
   -- @return a ByteTensor
   -- @usage torch.type(cutorch.getRNGState()) --> torch.ByteTensor
   function cutorch.getRNGState(device)
      local state = core.fresh(core.BYTE)
      device = optionalDevice('getRNGState', device)
      lib.device_rng_get(device, state)
      noted(seeding.read, device)
      return state
   end

   --- Restores the state of a device's generator.
   -- @function cutorch.setRNGState
   -- @as cutorch
   -- @param state ByteTensor: result of getRNGState
   -- @param device? number: from 1 on (the current one)
   -- @return nothing
   -- @usage local s = cutorch.getRNGState()
   --    local a = torch.CudaTensor(2):normal()
   --    cutorch.setRNGState(s)
   --    return a - torch.CudaTensor(2):normal() --> [0 0]
   function cutorch.setRNGState(state, device)
      if not torch.isTensor(state) then
         fail("setRNGState: argument 'state' is of type %s, wanted a state of getRNGState",
            torch.type(state))
      end
      device = optionalDevice('setRNGState', device)
      lib.device_rng_set(device, state)
      noted(seeding.restore, device)
   end

   --- Returns the states of all devices' generators as a list. A checkpoint needs them in addition
   -- to torch.getRNGState() (as PyTorch's torch.cuda.get_rng_state_all).
   -- @function cutorch.getRNGStateAll
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.get_rng_state_all
   -- @return a list of ByteTensors
   -- @usage torch.type(cutorch.getRNGStateAll()[2]) --> torch.ByteTensor
   function cutorch.getRNGStateAll()
      local states = {}
      for i = 1, cutorch.getDeviceCount() do states[i] = cutorch.getRNGState(i) end
      return states
   end

   --- Restores the states of the generators of all devices.
   -- @function cutorch.setRNGStateAll
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.set_rng_state_all
   -- @param states table: result of getRNGStateAll
   -- @return nothing
   -- @usage local s = cutorch.getRNGStateAll()
   --    local a = torch.CudaTensor(1):uniform()
   --    cutorch.setRNGStateAll(s)
   --    return a - torch.CudaTensor(1):uniform() --> [0]
   function cutorch.setRNGStateAll(states)
      local count = cutorch.getDeviceCount()
      if type(states) ~= 'table' or #states ~= count then
         fail('setRNGStateAll: got %s, wanted a list of %d states, one per device',
            type(states) == 'table' and 'a list of ' .. #states or torch.type(states), count)
      end
      for i = 1, count do cutorch.setRNGState(states[i], i) end
   end
end
