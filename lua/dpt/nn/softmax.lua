--- dpt.nn.softmax: softmax and log-softmax over the dimension of a layer's field `dim`.
--
-- Invariant: without that field, Torch7's rule holds: the first dimension of an input of 1 or 3
-- dimensions, the second one of an input of 2 or 4.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local M = {}

--- Sets a layer's dimension; a negative one is counted from the end.
function M.setDimension(self, dim)
   if dim and (dim == 0 or dim % 1 ~= 0) then
      fail("%s: argument 'dim' is %s, wanted a dimension: from 1, or from -1 for the last one",
         torch.type(self), dim)
   end
   self.dim = dim
end

-- Returns the dimension in an input, 0 for Torch7's rule.
local function dimensionOf(self, t)
   local dim = self.dim or 0
   if dim < 0 then dim = t:dim() + 1 + dim end
   if self.dim and (dim < 1 or dim > t:dim()) then
      fail('%s: the input has %d dimensions, but dim is %d', torch.type(self), t:dim(), self.dim)
   end
   return dim
end

--- Computes self.output; log: 1 for log-softmax, otherwise 0.
function M.forward(self, input, log)
   lib.softmax_forward(self.output, input, log, dimensionOf(self, input))
   return self.output
end

--- Computes self.gradInput.
function M.backward(self, gradOutput, log)
   lib.softmax_backward(self.gradInput, gradOutput, self.output, log,
      dimensionOf(self, self.output))
   return self.gradInput
end

return M
