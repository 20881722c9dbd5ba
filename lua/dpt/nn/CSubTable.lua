--- nn.CSubTable(): y = input[1] - input[2], element by element.
-- Invariant: both inputs have the same number of elements; neither changes.
-- @function nn.CSubTable
-- @within nn tables
-- @as layer
-- @return a module; forward: tensors {a, b} of the same size -> a - b
-- @usage nn.CSubTable():forward{torch.Tensor{5, 5}, torch.Tensor{2, 3}} --> [3 2]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local CSubTable, parent = torch.class('nn.CSubTable', 'nn.Module')

function CSubTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CSubTable:updateOutput(input)
   self.output:resizeAs(input[1]):add(input[1], -1, input[2])
   return self.output
end

function CSubTable:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, {input[1], input[2]})
   for i = 1, 2 do
      self.gradInput[i]:resizeAs(input[i]):copy(gradOutput)
   end
   self.gradInput[2]:mul(-1)
   return self.gradInput
end

return CSubTable
