--- Checks the arguments of optimization methods and the results of opfunc.
-- Invariant: a bad call raises one error (function, argument, got, wanted) at the line of the
-- user's script, before the step. A good call costs a few comparisons and allocates nothing.

--- Tags that reference entries of optimization methods share.
-- @pattern descent
-- @within optim
-- @param opfunc function: opfunc(x) returns f(x) and its gradient, which may be modified; only
--    lbfgs and cg use the value of f(x)
-- @param x tensor: the parameters, a vector that is updated in place; halves and bfloat16 are
--    updated in float, with a state of floats
-- @return x, and a list of the values of f, the first one before the step
-- @raise if opfunc returns no gradient of the size of x, a setting is not a number, or a tensor of
--    the state does not have the size of x; a tensor of another type or device is converted. A
--    setting with PyTorch's name (lr) or another spelling (learning_rate) is reported once on
--    stderr
-- @follows Torch7's optim, and the source that the method's file names

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local updates = require 'dpt.updates'
local Masters = require 'dpt.masters'
local settings = require 'dpt.optim.settings'
local captured = require 'dpt.device.captured'

local arguments = {}
local isTensor = torch.isTensor

--- Returns a description of a value.
function arguments.describe(value)
   if value == nil then return 'nil' end
   if not isTensor(value) then return 'a ' .. torch.type(value) end
   return ('a %s of %d elements'):format(value:type(), value:nElement())
end
local describe = arguments.describe

--- Raises an error: an argument has the wrong type or value.
function arguments.reject(name, argument, value, wanted)
   fail("optim.%s: argument '%s' is %s, wanted %s", name, argument, describe(value), wanted)
end
local reject = arguments.reject

--- Returns true if a value is a function or a callable object.
function arguments.isCallable(value)
   if type(value) == 'function' then return true end
   local meta = type(value) ~= 'string' and getmetatable(value)
   return type(meta) == 'table' and rawget(meta, '__call') ~= nil
end

--- Raises if a value is not callable.
function arguments.callable(name, argument, value)
   if not arguments.isCallable(value) then reject(name, argument, value, 'a function') end
end

--- Raises if a value is not a tensor.
function arguments.tensor(name, argument, value)
   if not isTensor(value) then reject(name, argument, value, 'a tensor') end
end

--- Returns a number of the config; scripts may have it as a string (an option or an environment
-- variable).
function arguments.number(name, field, value)
   return tonumber(value) or reject(name, field, value, 'a number')
end

--- Raises if a value is neither nil nor a table; returns a table.
function arguments.table(name, argument, value)
   if value == nil then return {} end
   if type(value) ~= 'table' then reject(name, argument, value, 'a table') end
   return value
end

--- Raises if a value is neither nil nor a table; returns a table of a method's settings, which it
-- checks.
function arguments.settings(name, argument, value)
   local config = arguments.table(name, argument, value)
   if value ~= nil then settings.check(name, config) end
   return config
end

-- Raises if flat parameters no longer belong to a network.
local function rejectStale(name, argument, value)
   if updates.isStale(value) then
      fail("optim.%s: argument '%s' holds parameters that have moved elsewhere, since the network"
         .. ' was changed or flattened anew: call getParameters again', name, argument)
   end
end

--- Raises if a value is not a tensor, or holds flat parameters that no longer belong to a network.
function arguments.fresh(name, argument, value)
   arguments.tensor(name, argument, value)
   rejectStale(name, argument, value)
end

-- Methods whose steps are all alike after the first one if the rate does not change. Steps with a
-- loss scaler count on the device.
local steady = {sgd = true, nag = true, adagrad = true, adadelta = true, rmsprop = true}

-- During capture of a graph (cutorch.graph), rejects methods whose later steps would differ: every
-- replay repeats the captured step.
local function rejectUnsteady(name, config, state)
   local fn = 'optim.' .. name
   local scaler = config.scaler
   if not scaler and not steady[name] then lib.graph_reject(fn, 'it counts its steps') end
   if not scaler and (config.learningRateDecay or 0) ~= 0 then
      lib.graph_reject(fn, 'it changes the rate (learningRateDecay)')
   end
   if scaler and not scaler.numbers or not scaler and not (state.evalCounter or state.m) then
      lib.graph_reject(fn, 'it takes its first step (take one before)')
   end
   captured.note(fn, config, settings.of(name))
end

--- Raises during the capture of a graph, whose replays would repeat that a method allocates or
-- converts its state.
function arguments.notCaptured(name)
   if C.dpt_graph_capturing() == 0 then return end
   lib.graph_reject('optim.' .. name, 'it allocates its state (take a step before)')
end

--- Checks the arguments of a method.
-- @return config, state
function arguments.check(name, opfunc, x, config, state)
   if type(opfunc) ~= 'function' then arguments.callable(name, 'opfunc', opfunc) end
   if not isTensor(x) then reject(name, 'x', x, 'a tensor') end
   rejectStale(name, 'x', x)
   config = arguments.settings(name, 'config', config)
   if state ~= nil and type(state) ~= 'table' then reject(name, 'state', state, 'a table') end
   if C.dpt_graph_capturing() ~= 0 then rejectUnsteady(name, config, state or config) end
   return config, state or config
end

--- Raises unless the gradient has the type and the number of elements of x; reduces pending
-- gradients, and copies values that a script has written to weights in nn.MixedPrecision to x.
-- @return the gradient; a copy if it is x itself, for methods whose single pass writes both
function arguments.gradient(name, x, dfdx)
   if not isTensor(dfdx) or dfdx.kind_ ~= x.kind_ or dfdx:nElement() ~= x:nElement() then
      fail("optim.%s: opfunc's gradient is %s, wanted %s as x", name, describe(dfdx), describe(x))
   end
   rejectStale(name, 'x', x) -- opfunc may have changed the network
   updates.flush(x, dfdx)
   Masters.follow(x)
   return dfdx.storage_ == x.storage_ and dfdx.offset_ == x.offset_ and dfdx:clone() or dfdx
end

--- Calls opfunc(x).
-- @return f(x), which is a number, and its gradient
function arguments.evaluate(name, opfunc, x)
   local f, g = opfunc(x)
   if type(f) ~= 'number' then
      fail("optim.%s: opfunc's value is %s, wanted a number", name, describe(f))
   end
   arguments.gradient(name, x, g)
   return f, g
end

return arguments
