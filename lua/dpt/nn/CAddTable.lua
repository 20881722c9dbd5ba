--- nn.CAddTable(inplace): the elementwise sum of the tensors of the input table.
-- Invariant: with inplace output is input[1] and every gradInput is gradOutput itself; without it
-- the inputs do not change.
-- @function nn.CAddTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of tensors of the same size -> their sum
-- @usage nn.CAddTable():forward{torch.Tensor{1, 2}, torch.Tensor{10, 20}} --> [11 22]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local CAddTable, parent = torch.class('nn.CAddTable', 'nn.Module')
CAddTable.outputSplit = CAddTable.sameSplit

function CAddTable:__init(inplace)
   parent.__init(self)
   self.inplace = inplace
   self.gradInput = {}
end

function CAddTable:updateOutput(input)
   if self.inplace then
      self.output:set(input[1])
   elseif #input > 1 then
      self.output:resizeAs(input[1])
      self.output:add(input[1], 1, input[2])
   else
      self.output:resizeAs(input[1]):copy(input[1])
   end
   for i = self.inplace and 2 or 3, #input do self.output:add(1, input[i]) end
   return self.output
end

function CAddTable:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   for i, x in ipairs(input) do
      if self.inplace then
         self.gradInput[i]:set(gradOutput)
      else
         self.gradInput[i]:resizeAs(x):copy(gradOutput)
      end
   end
   return self.gradInput
end

return CAddTable
