--- nn.CAddTensorTable(): adds the tensor input[1] to every tensor of the table input[2].
-- Invariant: gradInput[1] is the sum of all gradOutputs, gradInput[2] holds them.
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

function CAddTensorTable:updateOutput(input)
   self.output = {}
   for i, x in ipairs(input[2]) do
      self.output[i] = x.new():resizeAs(x):add(x, 1, input[1])
   end
   return self.output
end

function CAddTensorTable:updateGradInput(input, gradOutput)
   local sum = input[1].new():resizeAs(input[1]):copy(gradOutput[1])
   for i = 2, #input[2] do sum:add(1, gradOutput[i]) end
   self.gradInput = {sum, gradOutput}
   return self.gradInput
end

return CAddTensorTable
