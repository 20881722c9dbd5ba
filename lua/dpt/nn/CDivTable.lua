--- nn.CDivTable(): y = input[1] / input[2], element by element.
-- Invariant: neither input changes.
-- @function nn.CDivTable
-- @within nn tables
-- @as layer
-- @return a module; forward: tensors {a, b} of the same size -> a / b
-- @usage nn.CDivTable():forward{torch.Tensor{8, 9}, torch.Tensor{2, 3}} --> [4 3]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local CDivTable, parent = torch.class('nn.CDivTable', 'nn.Module')

function CDivTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CDivTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1]):cdiv(input[2])
   return self.output
end

-- d/da = 1/b, d/db = -a/b^2
function CDivTable:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, {input[1], input[2]})
   self.gradInput[1]:resizeAs(input[1]):copy(gradOutput):cdiv(input[2])
   self.gradInput[2]:resizeAs(input[2]):copy(self.gradInput[1]):cmul(input[1]):cdiv(input[2])
      :mul(-1)
   return self.gradInput
end

return CDivTable
