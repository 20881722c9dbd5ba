--- dpt.nn.extremum: defines layers that return the extreme element along a dimension (nn.Max,
-- nn.Min).
--
-- Invariant: the gradient goes to the selected element. A negative dimension counts from the end.
-- With nInputDims, an input with one more dimension is a batch.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local M = {}

--- Defines the class `name` with its constructor (dimension, nInputDims).
-- @param name 'nn.Max' or 'nn.Min'
-- @param pick torch.max or torch.min
-- @return the class
function M.define(name, pick)
   local class, parent = torch.class(name, 'nn.Module')

   function class:__init(dimension, nInputDims)
      parent.__init(self)
      self.dimension = dimension or 1

      --- Sets the number of dimensions of a sample. An input with one more is a batch: `dimension`
      -- then counts from its second dimension.
      -- @function nn.Max:setNumInputDims
      -- @as method
      -- @within nn simple
      -- @also nn.Min:setNumInputDims()
      -- @param nInputDims number: dimensions of a sample, without the batch
      -- @return the module
      -- @usage nn.Max(1):setNumInputDims(1):forward(torch.Tensor{{1, 3}, {5, 2}}) --> [3 5]
      self:setNumInputDims(nInputDims)
   end

   function class:setNumInputDims(nInputDims)
      self.nInputDims = nInputDims
      return self
   end

   function class:_getPositiveDimension(input)
      local dimension = self.dimension
      if dimension < 0 then return input:dim() + dimension + 1 end
      return self.nInputDims and input:dim() == self.nInputDims + 1 and dimension + 1 or dimension
   end

   function class:updateOutput(input)
      local dimension = self:_getPositiveDimension(input)
      self._output = self._output or self.output.new()
      self._indices = nn.utils.indexTensor(self._indices, input)
      pick(self._output, self._indices, input, dimension)
      if input:dim() > 1 then
         self.output:set(self._output:select(dimension, 1))
      else
         self.output:set(self._output)
      end
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      local dimension = self:_getPositiveDimension(input)
      local gradient = gradOutput
      if input:dim() > 1 then gradient = nn.utils.addSingletonDimension(gradOutput, dimension) end
      self.gradInput:resizeAs(input):zero():scatter(dimension, self._indices, gradient)
      return self.gradInput
   end

   function class:type(typename, tensorCache)
      if typename then self._indices = nil end
      return parent.type(self, typename, tensorCache)
   end

   function class:clearState()
      nn.utils.clear(self, '_indices', '_output')
      return parent.clearState(self)
   end

   return class
end

return M
