--- dpt.optim.counts: how many steps sgd (state.evalCounter) and adam (state.t) have taken.
--
-- Invariant: the count is a number or, after steps with a loss scaler on a device, in a vector of
-- doubles there, state.evalCounterOnDevice or state.tOnDevice, which kernels increase
-- (dpt_sgd_mixed in csrc/dpt.h): the steps taken, and those since the velocity state.dfdx was
-- allocated. Then reading state.evalCounter or state.t waits.
local core = require 'dpt.tensor.core'
local C = require('dpt.ffi').C
local lazy = require 'dpt.optim.lazy'

local M = {}

local names = {evalCounter = 'evalCounterOnDevice', t = 'tOnDevice'}

--- Set of the fields that are vectors of counts.
M.fields = {}

for key, name in pairs(names) do
   M.fields[name] = true
   lazy.define(key, function(state)
      local counts = rawget(state, name)
      return counts and counts[1]
   end)
end

--- Returns a count as a number, which the state then contains.
-- @param key string: evalCounter or t
function M.number(state, key)
   local counts = rawget(state, names[key])
   if counts then
      local steps, age = unpack(counts:totable())
      state[names[key]], state[key] = nil, steps
      if age == 0 then state.dfdx = nil end
   end
   return state[key] or 0
end

--- Returns a count as a vector on the device of x.
-- @param key string: evalCounter or t
-- @param isNew? boolean: true if the velocity was allocated for this step
function M.onDevice(state, key, x, isNew)
   local counts = rawget(state, names[key])
   if not counts or C.dpt_tensor_device(counts) ~= C.dpt_tensor_device(x) then
      local moved = core.newTensor(core.ON_DEVICE + core.DOUBLE):resize(C.DPT_STEP_COUNTS)
      if counts then
         moved:copy(counts)
      else
         moved:fill(1):narrow(1, 1, 1):fill(state[key] or 0)
      end
      counts, state[names[key]], state[key] = moved, moved, nil
      lazy.attach(state)
   end
   if isNew then counts:narrow(1, 2, 1):fill(0) end
   return counts
end

--- Returns true if a state has counts on a device.
function M.areOnDevice(state)
   return rawget(state, names.t) ~= nil or rawget(state, names.evalCounter) ~= nil
end

--- Makes all counts of a state numbers.
function M.settle(state)
   for key, name in pairs(names) do
      if rawget(state, name) then M.number(state, key) end
   end
end

return M
