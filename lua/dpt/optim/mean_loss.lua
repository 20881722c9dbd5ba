--- dpt.optim.mean_loss: makes ranks that train one network take decisions from one loss.
--
-- Invariant: for a method that decides by the loss, the setting meanLoss maps the value of the
-- script's function to the value that the method sees, so that all ranks take the same steps.
-- Without it, the method raises before it touches parameters that several ranks train. Only
-- meanLoss communicates.
local torch = require 'dpt.tensor'
local arguments = require 'dpt.optim.arguments'
local dptffi = require 'dpt.ffi'
local updates = require 'dpt.updates'
local fail, type = dptffi.fail, dptffi.type

--- Returns a method that decides by the loss of all ranks.
-- @param name string: name of the method
-- @param method function(f1 .. fn, x, ...): f1 returns the loss
-- @param count number: n, the number of functions before x
-- @param offset number: position after x of the table with meanLoss
-- @param label string: the method's name for that table
return function(name, method, count, offset, label)
   label = label .. '.meanLoss'
   return function(f, ...)
      local x, settings = select(count, ...), (select(count + offset, ...))
      local meanLoss = nil
      if type(settings) == 'table' then meanLoss = settings.meanLoss end
      if meanLoss == nil then
         if torch.isTensor(x) and updates.isDistributed(x) then
            fail("optim.%s: argument '%s' is nil, wanted function(loss) return net:meanLoss(loss)"
               .. ' end: x are parameters that several ranks train, which decide by one loss',
               name, label)
         end
         return method(f, ...)
      end
      arguments.callable(name, label, meanLoss)
      if not arguments.isCallable(f) then return method(f, ...) end -- which raises
      local function mean(loss, ...)
         if type(loss) == 'number' then loss = meanLoss(loss) end
         return loss, ...
      end
      return method(function(...) return mean(f(...)) end, ...)
   end
end
