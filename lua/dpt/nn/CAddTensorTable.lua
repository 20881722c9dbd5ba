--- nn.CAddTensorTable(): adds the tensor input[1] to every tensor of the table input[2].
-- Invariant: gradInput[1] is the sum of all gradOutputs, gradInput[2] is the table of all
-- gradOutputs. Outputs and gradients have the type and sizes of input[1].
-- @function nn.CAddTensorTable
-- @within nn tables
-- @as layer
-- @return a module; forward: {tensor, table of tensors of its size} -> a table of sums
-- @usage nn.CAddTensorTable():forward{torch.Tensor{1}, {torch.Tensor{2},
--       torch.Tensor{5}}}[2] --> [6]

local torch = require 'dpt.tensor'

local CAddTensorTable, parent = torch.class('nn.CAddTensorTable', 'nn.Module')

function CAddTensorTable:__init()
   parent.__init(self)
   self.output = {}
   self.gradInput = {}
end

-- Returns the tensor, or a copy with the type and sizes of another tensor.
local function convertLike(t, other)
   if torch.type(t) == torch.type(other) and t:isSameSizeAs(other) then return t end
   return other.new():resizeAs(other):copy(t)
end

function CAddTensorTable:updateOutput(input)
   local term = input[1]
   self.output = {}
   for i, x in ipairs(input[2]) do
      self.output[i] = term.new():resizeAs(term):add(convertLike(x, term), 1, term)
   end
   return self.output
end

function CAddTensorTable:updateGradInput(input, gradOutput)
   local term, gradients = input[1], {}
   for i = 1, #input[2] do gradients[i] = convertLike(gradOutput[i], term) end
   local sum = term.new():resizeAs(term):copy(gradients[1])
   for i = 2, #gradients do sum:add(1, gradients[i]) end
   self.gradInput = {sum, gradients}
   return self.gradInput
end

return CAddTensorTable
