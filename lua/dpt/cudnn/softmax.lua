--- How cudnn's SoftMax, SpatialSoftMax and their logarithms see an input as one that nn's take.
-- Invariant: shares are those of nn's class; the output has the input's sizes.

local M = {}

-- All that a sample has is one distribution.
function M.instances(t)
   local n = t:dim()
   return n < 3 and t or t:contiguous():view(n == 3 and 1 or t:size(1), -1)
end

-- A distribution for each place of a picture; a vector or a row is a picture of one place.
function M.channels(t)
   return t:dim() > 2 and t or t:contiguous():view(t:dim() == 1 and 1 or t:size(1), -1, 1, 1)
end

--- Makes a class work on what view(tensor) returns.
function M.define(class, parent, view)
   function class:updateOutput(input)
      self.output = parent.updateOutput(self, view(input)):viewAs(input)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      self.output = view(self.output)
      self.gradInput = parent.updateGradInput(self, view(input), view(gradOutput)):viewAs(input)
      self.output = self.output:viewAs(input)
      return self.gradInput
   end
end

return M
