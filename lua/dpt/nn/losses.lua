--- Criterions that sum one function over all elements, by a loss of the C library.
-- What must stay true: forward waits once, for the number; backward never.

local C = require 'dpt.ffi'.C
local lib = require 'dpt.nn.lib'

local M = {}

--- The number of a loss.
function M.id(name)
   local id = C.dpt_loss(name)
   if id < 0 then error('libdpt has no loss ' .. name) end
   return id
end

--- Gives a criterion updateOutput and updateGradInput.
-- @param name of the loss
-- @param p name of the field that holds the loss's number, or nil
function M.define(class, name, p)
   local id = M.id(name)

   function class:updateOutput(input, target)
      local out = self:lossTensor(input)
      lib.loss_forward(id, out, input, self:valuesFor(input, target), nil,
         self.sizeAverage and 1 or 0, p and self[p] or 0)
      self.output = out[1]
      return self.output
   end

   function class:updateGradInput(input, target)
      lib.loss_backward(id, self.gradInput, input, self:valuesFor(input, target), nil,
         self.sizeAverage and 1 or 0, p and self[p] or 0)
      return self.gradInput
   end
end

return M
