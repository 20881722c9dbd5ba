--- nn.CMulTable(): the elementwise product of the tensors of the input table.
-- Invariant: gradInput[i] is gradOutput times all other inputs, so it is correct even if an input
-- is 0.
-- @function nn.CMulTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of tensors of the same size -> their product
-- @usage nn.CMulTable():forward{torch.Tensor{2, 3}, torch.Tensor{10, 100}} --> [20 300]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local CMulTable, parent = torch.class('nn.CMulTable', 'nn.Module')
CMulTable.outputSplit = CMulTable.sameSplit

function CMulTable:__init()
   parent.__init(self)
   self.gradInput = {}
end

function CMulTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1])
   for i = 2, #input do self.output:cmul(input[i]) end
   return self.output
end

function CMulTable:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   for i, x in ipairs(input) do
      self.gradInput[i]:resizeAs(x):copy(gradOutput)
      for j, other in ipairs(input) do
         if j ~= i then self.gradInput[i]:cmul(other) end
      end
   end
   return self.gradInput
end

return CMulTable
