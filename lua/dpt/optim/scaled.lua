--- dpt.optim.scaled: runs an optimization method with a loss scaler.
-- Invariant: the method receives the gradient divided by the scale. If the gradient is not finite,
-- the method is not called, so that x, the state and the counts of steps keep their bits.
local torch = require 'dpt.tensor'
local arguments = require 'dpt.optim.arguments'
local dptffi = require 'dpt.ffi'
local C, lib, fail, type = dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local M = {}

--- Methods that evaluate f once in each step, at x.
local takes = {sgd = true, adam = true, adamw = true, adamax = true, adagrad = true,
   adadelta = true, rmsprop = true, asgd = true}

--- Returns the scaler of a config; nil if there is none.
function M.of(name, config)
   local scaler = type(config) == 'table' and config.scaler or nil
   if scaler ~= nil and torch.type(scaler) ~= 'optim.LossScaler' then
      arguments.reject(name, 'scaler', scaler, 'an optim.LossScaler')
   end
   return scaler
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
-- @param method function(opfunc, x, config, state)
function M.wrap(name, method)
   return function(opfunc, x, config, state)
      local scaler = M.of(name, config)
      if not scaler then return method(opfunc, x, config, state) end
      if not takes[name] then
         fail("optim.%s: the setting 'scaler' is for methods that evaluate f once, at x, in each"
            .. ' step', name)
      end
      if C.dpt_graph_capturing() ~= 0 then
         lib.graph_reject('optim.' .. name, 'its loss scaler waits for the device')
      end
      config, state = arguments.check(name, opfunc, x, config, state)
      return M.step(name, scaler, method, opfunc, x, config, state)
   end
end

return M
