--- nn.Sum(dimension, nInputDims, sizeAverage, squeeze): sums over a dimension and removes it,
-- unless squeeze is false. With sizeAverage, divides the sum by the dimension's size.
-- Invariant: dimensions count as in nn.Max.
-- @function nn.Sum
-- @within nn simple
-- @as layer
-- @param squeeze false: the dimension is kept, with size 1
-- @return a module; forward: a tensor -> its sum, without that dimension
-- @usage nn.Sum(2):forward(torch.Tensor{{1, 5}, {9, 2}}) --> [6 11]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local Sum, parent = torch.class('nn.Sum', 'nn.Module')

function Sum:__init(dimension, nInputDims, sizeAverage, squeeze)
   parent.__init(self)
   self.dimension = dimension or 1
   self.nInputDims = nInputDims
   self.sizeAverage = sizeAverage or false
   self.squeeze = squeeze == nil and true or squeeze
end

--- Sets the number of dimensions of a sample. If an input has one more, its first dimension is the
-- batch, and the module's dimension does not count it.
-- @function nn.Sum:setNumInputDims
-- @as method
-- @within nn simple
-- @param nInputDims number: dimensions of a sample, without the batch
-- @return the module
-- @usage nn.Sum(1):setNumInputDims(1):forward(torch.ones(2, 3)) --> [3 3]
function Sum:setNumInputDims(nInputDims)
   self.nInputDims = nInputDims
   return self
end

function Sum:_getPositiveDimension(input)
   local dimension = self.dimension
   if dimension < 0 then
      dimension = input:dim() + dimension + 1
   elseif self.nInputDims and input:dim() == self.nInputDims + 1 then
      dimension = dimension + 1
   end
   if dimension > input:dim() then
      fail('%s: dimension %d is not in 1..%d', torch.type(self), dimension, input:dim())
   end
   return dimension
end

function Sum:updateOutput(input)
   local dimension = self:_getPositiveDimension(input)
   torch.sum(self.output, input, dimension)
   if self.sizeAverage then self.output:div(input:size(dimension)) end
   if self.squeeze and self.output:dim() > 1 then
      self.output:set(self.output:select(dimension, 1))
   end
   return self.output
end

function Sum:updateGradInput(input, gradOutput)
   local dimension = self:_getPositiveDimension(input)
   if self.squeeze and input:dim() > 1 then
      gradOutput = nn.utils.addSingletonDimension(gradOutput, dimension)
   end
   self.gradInput:resizeAs(input):copy(gradOutput:expandAs(input))
   if self.sizeAverage then self.gradInput:div(input:size(dimension)) end
   return self.gradInput
end

return Sum
