--- dpt.optim.scaled: runs an optimization method with a loss scaler. Invariant: if the gradient is
-- not finite, x, the state and the counts of steps keep their bits. On devices, the kernels of sgd,
-- adam and adamw divide the gradient by the scale and decide whether the step is skipped, so
-- nothing waits. On devices without these kernels, in host memory and in the other methods,
-- prepare() divides the gradient, and the method is called only if it is finite.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local arguments = require 'dpt.optim.arguments'
local dptffi = require 'dpt.ffi'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local M = {}

--- Methods that evaluate f once in each step, at x.
local takes = {sgd = true, adam = true, adamw = true, adamax = true, adagrad = true,
   adadelta = true, rmsprop = true, asgd = true}

--- Methods with kernels that take the scaler.
M.kernels = {sgd = true, adam = true, adamw = true}

--- Returns the scaler of a config; nil if there is none.
function M.of(name, config)
   local scaler = type(config) == 'table' and config.scaler or nil
   if scaler ~= nil and torch.type(scaler) ~= 'optim.LossScaler' then
      arguments.reject(name, 'scaler', scaler, 'an optim.LossScaler')
   end
   return scaler
end

--- Returns true if x is on a device whose kernels take a scaler.
function M.hasKernels(x) return x.kind_ >= core.ON_DEVICE and C.dpt_step_copies(x) ~= 0 end

--- Returns true if a method's step with a scaler is queued on the device of x.
-- @param name string: the method
-- @param x tensor: the parameters
function M.isQueued(name, x)
   return M.kernels[name] and torch.isTensor(x) and M.hasKernels(x)
end

--- Does one step of a method that does not know the scaler, or skips it.
function M.step(name, scaler, method, opfunc, x, config, state)
   local fx, dfdx = opfunc(x)
   dfdx = arguments.gradient(name, x, dfdx)
   if not scaler:prepare(dfdx) then return x, {fx} end
   return method(function() return fx, dfdx end, x, config, state)
end

--- Wraps a method.
-- @param name string: name of the method
-- @param method function(opfunc, x, config, state, scaler)
function M.wrap(name, method)
   return function(opfunc, x, config, state)
      local scaler = M.of(name, config)
      if not scaler then return method(opfunc, x, config, state) end
      if not takes[name] then
         fail("optim.%s: the setting 'scaler' is for methods that evaluate f once, at x, in each"
            .. ' step', name)
      end
      if M.isQueued(name, x) then return method(opfunc, x, config, state, scaler) end
      if C.dpt_graph_capturing() ~= 0 then
         lib.graph_reject('optim.' .. name, 'its loss scaler waits for the device')
      end
      config, state = arguments.check(name, opfunc, x, config, state)
      return M.step(name, scaler, method, opfunc, x, config, state)
   end
end

return M
