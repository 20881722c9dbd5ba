--- What every method of descent is called with: one check of arguments, one of what opfunc returns.
-- Invariant: a bad call is one error message (function, argument, got, wanted) at the line of the
-- user's script, before the step; a good call costs a few comparisons and no memory.

--- What methods of descent have in common, for the reference.
-- @pattern descent
-- @within optim
-- @param opfunc function: opfunc(x) returns f(x) and its gradient, which may be changed; only lbfgs
--    and cg decide by f(x)
-- @param x tensor: the parameters, a vector that is changed in place; halves are updated in float,
--    with a state of floats
-- @return x, and a list of the values of f, the first one before the step
-- @raise if opfunc returns no gradient of the size of x, a setting is no number, or a tensor of the
--    state has not the size of x; one of another type or device is converted. A setting by
--    PyTorch's name (lr) or in another spelling (learning_rate) is reported once on stderr
-- @follows Torch7's optim, and what the method's file names

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local updates = require 'dpt.updates'
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

--- Raises an error: an argument is not what was wanted.
function arguments.reject(name, argument, value, wanted)
   fail("optim.%s: argument '%s' is %s, wanted %s", name, argument, describe(value), wanted)
end
local reject = arguments.reject

--- Returns true if a value is a function or an object that is called like one.
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

--- A number of the config, which scripts may have as a string (an option, or of the environment).
function arguments.number(name, field, value)
   return tonumber(value) or reject(name, field, value, 'a number')
end

--- Rejects what is neither nil nor a table; returns a table.
function arguments.table(name, argument, value)
   if value == nil then return {} end
   if type(value) ~= 'table' then reject(name, argument, value, 'a table') end
   return value
end

--- The same for a table of a method's settings.
function arguments.settings(name, argument, value)
   local config = arguments.table(name, argument, value)
   if value ~= nil then settings.check(name, config) end
   return config
end

-- Rejects flat parameters that are not a network's any more.
local function rejectStale(name, argument, value)
   if updates.isStale(value) then
      fail("optim.%s: argument '%s' holds parameters that have moved elsewhere, since the network"
         .. ' was changed or flattened anew: call getParameters again', name, argument)
   end
end

-- Methods whose steps are all alike once the first one has been taken, if the rate stays.
local steady = {sgd = true, nag = true, adagrad = true, adadelta = true, rmsprop = true}

-- While a graph is captured (cutorch.graph): each replay is the step that is captured.
local function rejectUnsteady(name, config, state)
   local fn = 'optim.' .. name
   if not steady[name] then lib.graph_reject(fn, 'it counts its steps') end
   if (config.learningRateDecay or 0) ~= 0 then
      lib.graph_reject(fn, 'it changes the rate (learningRateDecay)')
   end
   if not (state.evalCounter or state.m) then
      lib.graph_reject(fn, 'it takes its first step (take one before)')
   end
   captured.note(fn, config, settings.of(name))
end

--- Checks what a method is called with.
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

--- Rejects a gradient that is not of x's type and count; what of it waits on replicas is added up.
-- @return the gradient; a copy if it is x itself, for methods whose one step writes both
function arguments.gradient(name, x, dfdx)
   if not isTensor(dfdx) or dfdx.kind_ ~= x.kind_ or dfdx:nElement() ~= x:nElement() then
      fail("optim.%s: opfunc's gradient is %s, wanted %s as x", name, describe(dfdx), describe(x))
   end
   rejectStale(name, 'x', x) -- opfunc may have changed the network
   updates.flush(x, dfdx)
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
