--- nn.SplitTable(dimension, nInputDims): splits the input into a table of its slices along a
-- dimension.
-- Invariant: the slices are views of the input. Dimensions count as in nn.JoinTable.
-- @function nn.SplitTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a tensor -> a table of its slices, without that dimension
-- @usage #nn.SplitTable(2):forward(torch.ones(4, 5)) --> 5

local torch = require 'dpt.tensor'

local SplitTable, parent = torch.class('nn.SplitTable', 'nn.Module')

function SplitTable:__init(dimension, nInputDims)
   parent.__init(self)
   self.dimension = dimension
   self.nInputDims = nInputDims
end

function SplitTable:_getPositiveDimension(input)
   if self.dimension < 0 then return input:dim() + self.dimension + 1 end
   return self.nInputDims and input:dim() == self.nInputDims + 1 and self.dimension + 1
      or self.dimension
end

function SplitTable:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   self.output = {}
   for i = 1, input:size(dimension) do self.output[i] = input:select(dimension, i) end
   return self.output
end

function SplitTable:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   if not self.gradInput then return end
   self.gradInput:resizeAs(input)
   for i = 1, input:size(dimension) do
      self.gradInput:select(dimension, i):copy(gradOutput[i])
   end
   return self.gradInput
end

return SplitTable
