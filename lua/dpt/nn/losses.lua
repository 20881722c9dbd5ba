--- dpt.nn.losses: defines criterions that sum a function over all elements; the C library computes
-- the sum.
--
-- Invariant: nothing here waits for a device.

local torch = require 'dpt.tensor'
local describeSize = require('dpt.tensor.core').describeSize
local dptffi = require 'dpt.ffi'
local C, lib, fail = dptffi.C, dptffi.lib, dptffi.fail

local M = {}

--- Returns the number of a loss in the C library.
function M.id(name)
   local id = C.dpt_loss(name)
   if id < 0 then error('libdpt has no loss ' .. name, 0) end
   return id
end

--- Raises unless a criterion's argument `weights` is a vector.
function M.checkWeights(owner, weights)
   if torch.isTensor(weights) and weights:dim() == 1 then return end
   fail("%s: argument 'weights' is a %s, wanted a vector", owner,
      torch.isTensor(weights) and describeSize(weights) or torch.type(weights))
end

--- Returns the divisor of a loss averaged over its elements, or false for a sum.
function M.elements(self, input)
   return self.sizeAverage and input:nElement()
end

--- Returns the divisor of a loss averaged over rows, or false for a sum; a vector is one row.
function M.rows(self, input)
   return self.sizeAverage and (input:dim() > 1 and input:size(1) or 1)
end

--- Adds updateLoss, updateGradInput and denominator to a class of criterions.
-- @param name name of the loss
-- @param p name of the field that holds the loss's parameter, or nil
function M.define(class, name, p)
   local id = M.id(name)

   function class:updateLoss(input, target)
      local out = self:lossTensor(input)
      lib.loss_forward(id, out, input, self:valuesFor(input, target), nil,
         self.sizeAverage and 1 or 0, p and self[p] or 0)
      return out
   end

   function class:updateGradInput(input, target)
      lib.loss_backward(id, self.gradInput, input, self:valuesFor(input, target), nil,
         self.sizeAverage and 1 or 0, p and self[p] or 0)
      return self.gradInput
   end

   class.denominator = M.elements
end

return M
