--- dpt.nn.tableextremum: defines layers that return the elementwise extremum of the tensors in a
-- table (nn.CMaxTable, nn.CMinTable).
--
-- Invariant: of equal elements, the first one is the output and receives the gradient.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local M = {}

--- Defines the class `name`.
-- @param name 'nn.CMaxTable' or 'nn.CMinTable'
-- @param better name of the comparison that selects a later element: 'gt' or 'lt'
-- @param pick name of the method that keeps the selected element: 'cmax' or 'cmin'
-- @return the class
function M.define(name, better, pick)
   local class, parent = torch.class(name, 'nn.Module')

   function class:__init()
      parent.__init(self)
      self.gradInput = {}
      self.maxIdx = torch.Tensor() -- index of the input that each element is from
   end

   function class:updateOutput(input)
      self.output:resizeAs(input[1]):copy(input[1])
      self.maxIdx:resizeAs(input[1]):fill(1)
      for i = 2, #input do
         self.maxIdx:maskedFill(input[i][better](input[i], self.output), i)
         self.output[pick](self.output, input[i])
      end
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
      for i, x in ipairs(input) do
         self.gradInput[i]:resizeAs(x):eq(self.maxIdx, i):cmul(gradOutput)
      end
      return self.gradInput
   end

   return class
end

return M
