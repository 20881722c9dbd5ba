--- nn.Index(dimension): selects the slices of a tensor along a dimension by their indices. The
-- input is {tensor, indices}.
-- Invariant: the gradients of repeated indices are summed; the indices' gradient is zero.
-- @function nn.Index
-- @within nn simple
-- @as layer
-- @return a module; forward: {tensor, LongTensor of n indices} -> n slices
-- @usage nn.Index(1):forward{torch.Tensor{10, 20, 30}, torch.LongTensor{3, 1}} --> [30 10]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local exactIndices = require 'dpt.nn.exact_indices'

local Index, parent = torch.class('nn.Index', 'nn.Module')

function Index:__init(dimension)
   parent.__init(self)
   self.dimension = dimension
   self.gradInput = {self.gradInput, self.gradInput.new()}
end

-- Raises if the indices are in a 16-bit type that cannot represent all of them.
function Index:_checkIndices(input)
   exactIndices(self, input[2], input[1]:size(self.dimension))
end

function Index:updateOutput(input)
   self.output:index(input[1], self.dimension, input[2])
   self:_checkIndices(input)
   return self.output
end

function Index:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, {input[1], input[1]})
   self.gradInput[1]:resizeAs(input[1]):zero():indexAdd(self.dimension, input[2], gradOutput)
   self.gradInput[2]:resize(input[2]:size()):zero()
   return self.gradInput
end

return Index
