--- dpt.optim.counts: how many steps sgd (state.evalCounter) and adam (state.t) have taken.
--
-- Invariant: the count is a number or, after steps with a loss scaler on a device, in a vector of
-- doubles there, state.evalCounterOnDevice or state.tOnDevice, which kernels increase
-- (dpt_sgd_mixed in csrc/dpt.h): the steps taken, and those that have changed the velocity
-- state.dfdx. Then reading state.evalCounter or state.t waits, and a number that a script assigns
-- to one of them replaces the steps taken at the next step.
local core = require 'dpt.tensor.core'
local C = require('dpt.ffi').C
local captured = require 'dpt.device.captured'
local arguments = require 'dpt.optim.arguments'
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
   end, 0)
end

--- Returns a count as a number, which the state then contains.
-- @param key string: evalCounter or t
function M.number(state, key)
   local counts = rawget(state, names[key])
   if counts then
      local steps, age = unpack(counts:totable())
      state[key], state[names[key]] = rawget(state, key) or steps, nil
      if age == 0 then state.dfdx = nil end
   end
   return state[key] or 0
end

--- Returns a count as a vector on the device of x.
-- @param name string: the method
-- @param key string: evalCounter or t
-- @param isNew? boolean: true if the velocity was allocated for this step
function M.onDevice(name, state, key, x, isNew)
   local counts, steps = rawget(state, names[key]), rawget(state, key)
   local kind = core.ON_DEVICE + core.DOUBLE
   if not counts or counts.kind_ ~= kind
      or C.dpt_tensor_device(counts) ~= C.dpt_tensor_device(x) then
      arguments.notCaptured(name)
      local moved = core.newTensor(kind):resize(C.DPT_STEP_COUNTS)
      if counts then moved:copy(counts) else moved:fill(1) end
      steps = steps or not counts and 0
      counts, state[names[key]] = moved, moved
   end
   lazy.attach(state)
   if steps then
      arguments.notCaptured(name)
      counts:narrow(1, 1, 1):fill(steps)
      rawset(state, key, nil)
   end
   if isNew then counts:narrow(1, 2, 1):fill(0) end
   if captured.notes then captured.note('the state of optim.' .. name, state, {names[key]}) end
   return counts
end

--- Makes all counts of a state numbers.
function M.settle(state)
   for key, name in pairs(names) do
      if rawget(state, name) then M.number(state, key) end
   end
end

return M
