--- nn.Transpose({d1, d2}, ...): swaps pairs of dimensions, one pair after the other.
-- Invariant: output and gradInput are contiguous copies.
-- @function nn.Transpose
-- @within nn simple
-- @as layer
-- @param permutations pairs of dimensions, for example {1, 2}
-- @return a module; forward: a tensor -> the tensor with permuted dimensions
-- @usage nn.Transpose({1, 3}):forward(torch.ones(2, 3, 4)):size() --> 4x3x2

local torch = require 'dpt.tensor'

local Transpose, parent = torch.class('nn.Transpose', 'nn.Module')

function Transpose:__init(...)
   parent.__init(self)
   self.permutations = {...}
   self.numInputDims = nil
end

--- Sets the number of dimensions of a sample. Dimensions before them belong to the batch and are
-- not counted.
-- @function nn.Transpose:setNumInputDims
-- @as method
-- @within nn simple
-- @param n number: dimensions of a sample
-- @return the module
-- @usage nn.Transpose({1, 2}):setNumInputDims(2):forward(torch.ones(5, 2, 3)):size() --> 5x3x2
function Transpose:setNumInputDims(n)
   self.numInputDims = n
   return self
end

function Transpose:updateOutput(input)
   self.shift = self.numInputDims and input:dim() - self.numInputDims or 0
   for _, pair in ipairs(self.permutations) do
      input = input:transpose(pair[1] + self.shift, pair[2] + self.shift)
   end
   self.output:resizeAs(input):copy(input)
   return self.output
end

--- Returns the new position of the dimension along which the input was split.
function Transpose:outputSplit(split)
   split = self:sameSplit(split)
   for _, pair in ipairs(split and self.permutations or {}) do
      local a, b = pair[1] + (self.shift or 0), pair[2] + (self.shift or 0)
      split = split == a and b or split == b and a or split
   end
   return split
end

function Transpose:updateGradInput(_, gradOutput)
   for i = #self.permutations, 1, -1 do
      local pair = self.permutations[i]
      gradOutput = gradOutput:transpose(pair[1] + self.shift, pair[2] + self.shift)
   end
   self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   return self.gradInput
end

return Transpose
