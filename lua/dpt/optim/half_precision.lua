--- dpt.optim.half_precision: runs an optimization method on parameters of a reduced type.
-- Invariant: the method works on floats: a copy of the parameters, their gradient, its own state.
-- The script's function receives the parameters themselves, and its gradient is not modified. After
-- each call of the function the method continues from the values of the parameters: its own point,
-- rounded, or the values that the function has written. Nothing is allocated after the first step.
-- The kernels of sgd, adam and adamw do the same in one pass without copies, if the backend has
-- them; with a loss scaler only if they divide by the scale (scaled.lua), which gives floats.
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local arguments = require 'dpt.optim.arguments'
local buffer = require('dpt.optim.state').buffer
local scaled = require 'dpt.optim.scaled'
local C = require('dpt.ffi').C

-- Methods whose kernel may take a reduced type.
local kernels = {sgd = true, adam = true, adamw = true}

local function finish(x, floats, isStored, y, ...)
   if not isStored(floats) then x:copy(floats) end
   return rawequal(y, floats) and x or y, ...
end

local function run(name, method, opfunc, x, config, state)
   config, state = arguments.check(name, opfunc, x, config, state)
   local kind = core.computeKind(x.kind_)
   local floats = buffer(state, 'x', x, kind, x)
   local stored = comm.version{floats} -- version at which x had the same values

   local function isStored(point)
      return rawequal(point, floats) and comm.version{floats} == stored
   end
   local function evaluate(point)
      local moves = not isStored(point)
      if moves then x:copy(point) end
      local before = comm.version{x}
      local f, dfdx = opfunc(x)
      dfdx = arguments.gradient(name, x, dfdx)
      if moves or comm.version{x} ~= before then -- rounded, or written by opfunc
         point:copy(x)
         stored = rawequal(point, floats) and comm.version{floats} or nil
      end
      return f, buffer(state, 'dfdx', dfdx, kind, x)
   end
   return finish(x, floats, isStored, method(evaluate, floats, config, state))
end

--- Wraps a method.
-- @param name string: name of the method
-- @param method function(opfunc, x, config, state)
return function(name, method)
   local function takes(x, config)
      return kernels[name] and C.dpt_step_takes(x) ~= 0
         and (not scaled.of(name, config) or scaled.isQueued(name, x))
   end
   return function(opfunc, x, config, state)
      if torch.isTensor(x) and core.elementOf(x.kind_).isReduced and not takes(x, config) then
         return run(name, method, opfunc, x, config, state)
      end
      return method(opfunc, x, config, state)
   end
end
