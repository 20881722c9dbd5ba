--- Defines cudnn.SoftMax, cudnn.SpatialSoftMax and their Log versions: each applies an nn class to
-- a view of the input.
-- Invariant: values are those of the nn class; the output has the size of the input.

local M = {}

-- Returns a view in which all elements of a sample form one distribution.
function M.instances(t)
   local n = t:dim()
   return n < 3 and t or t:contiguous():view(n == 3 and 1 or t:size(1), -1)
end

-- Returns a view with one distribution per pixel; a vector or a row is an image of one pixel.
function M.channels(t)
   return t:dim() > 2 and t or t:contiguous():view(t:dim() == 1 and 1 or t:size(1), -1, 1, 1)
end

--- Makes a class compute on view(tensor).
function M.define(class, parent, view)
   function class:__init() parent.__init(self) end

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
