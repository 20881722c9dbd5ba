--- nn.Select(dimension, index): selects a slice of the input along a dimension.
-- Invariant: output is a view. Negative numbers count from the end. gradInput is zero outside the
-- slice.
-- @function nn.Select
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> its slice, with one dimension fewer
-- @usage nn.Select(1, 2):forward(torch.Tensor{{1, 2}, {3, 4}}) --> [3 4]

local torch = require 'dpt.tensor'

local Select, parent = torch.class('nn.Select', 'nn.Module')

function Select:__init(dimension, index)
   parent.__init(self)
   self.dimension = dimension
   self.index = index
end

--- Returns the dimension and the index, with negative values resolved.
-- @function nn.Select:position
-- @as author
-- @param input tensor: of any size
-- @return two numbers
-- @usage nn.Select(-1, -1):position(torch.ones(2, 5)) --> 2, 5
function Select:position(input)
   local dim = self.dimension < 0 and input:dim() + self.dimension + 1 or self.dimension
   return dim, self.index < 0 and input:size(dim) + self.index + 1 or self.index
end

function Select:updateOutput(input)
   self.output:set(input:select(self:position(input)))
   return self.output
end

function Select:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   self.gradInput:select(self:position(input)):copy(gradOutput)
   return self.gradInput
end

return Select
