--- nn.JoinTable(dimension, nInputDims): concatenates the tensors of the input table along a
-- dimension.
-- Invariant: a negative dimension counts from the end. Inputs with nInputDims + 1 dimensions are
-- batches, and dimension then does not count the batch. The output has the module's type; each
-- gradInput has the type of its input.
-- @function nn.JoinTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of tensors that agree in all sizes but one, of any types ->
--    one tensor
-- @usage nn.JoinTable(1):forward{torch.ones(2, 3), torch.ones(4, 3)}:size() --> 6x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local JoinTable, parent = torch.class('nn.JoinTable', 'nn.Module')
JoinTable.outputSplit = JoinTable.sameSplit

function JoinTable:__init(dimension, nInputDims)
   parent.__init(self)
   self.dimension = dimension
   self.nInputDims = nInputDims
   self.gradInput = {}
end

function JoinTable:_getPositiveDimension(input)
   local dims = input[1]:dim()
   if self.dimension < 0 then return dims + self.dimension + 1 end
   return self.nInputDims and dims == self.nInputDims + 1 and self.dimension + 1 or self.dimension
end

function JoinTable:updateOutput(input)
   return nn.utils.join(self.output, input, self:_getPositiveDimension(input))
end

function JoinTable:updateGradInput(input, gradOutput)
   local dimension, offset = self:_getPositiveDimension(input), 1
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   for i, x in ipairs(input) do
      local length = x:size(dimension)
      self.gradInput[i]:resizeAs(x):copy(gradOutput:narrow(dimension, offset, length))
      offset = offset + length
   end
   return self.gradInput
end

function JoinTable:type(typename, tensorCache)
   if typename then self.gradInput = {} end
   return parent.type(self, typename, tensorCache)
end

return JoinTable
