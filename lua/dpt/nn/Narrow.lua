--- nn.Narrow(dimension, offset, length): selects a range of the input along a dimension.
-- Invariant: output is a view of the input; gradInput is zero outside the range; both have the
-- input's type. A negative dimension counts from the end. A negative length omits the last -length
-- - 1 elements; a negative offset selects all but the last `length` elements.
-- @function nn.Narrow
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> length slices from offset
-- @usage nn.Narrow(1, 2, 2):forward(torch.Tensor{1, 2, 3, 4}) --> [2 3]

local torch = require 'dpt.tensor'
local usage = require('dpt.tensor.core').usage

local Narrow, parent = torch.class('nn.Narrow', 'nn.Module')

function Narrow:__init(dimension, offset, length)
   parent.__init(self)
   if not dimension or not offset then
      usage('nn.Narrow', '(dimension, offset [, length])', dimension, offset, length)
   end
   self.dimension = dimension
   self.index = offset
   self.length = length or 1
end

--- Returns the dimension, the first index and the length of the range in an input.
-- @function nn.Narrow:range
-- @as author
-- @param input tensor: of any size
-- @return three numbers
-- @usage nn.Narrow(1, 2, 3):range(torch.ones(5)) --> 1, 2, 3
function Narrow:range(input)
   local dim = self.dimension < 0 and input:dim() + self.dimension + 1 or self.dimension
   local offset, length = self.index, self.length
   if length < 0 then length = input:size(dim) - offset + length + 2 end
   if offset < 0 then offset, length = 1, input:size(dim) - length end
   return dim, offset, length
end

function Narrow:updateOutput(input)
   self.output = self.output:typeAs(input):set(input:narrow(self:range(input)))
   return self.output
end

function Narrow:updateGradInput(input, gradOutput)
   self.gradInput = self.gradInput:typeAs(input):resizeAs(input):zero()
   self.gradInput:narrow(self:range(input)):copy(gradOutput)
   return self.gradInput
end

return Narrow
