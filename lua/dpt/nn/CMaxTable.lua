--- nn.CMaxTable(): the elementwise maximum over the tensors of the input table.
-- What must stay true: of equal elements the first one gives the output and gets the gradient.

local torch = require 'dpt.tensor'

local CMaxTable, parent = torch.class('nn.CMaxTable', 'nn.Module')

function CMaxTable:__init()
   parent.__init(self)
   self.gradInput = {}
   self.maxIdx = torch.Tensor() -- which input each element came from
end

function CMaxTable:updateOutput(input)
   self.output:resizeAs(input[1]):copy(input[1])
   self.maxIdx:resizeAs(input[1]):fill(1)
   for i = 2, #input do
      local greater = input[i]:gt(self.output)
      self.maxIdx:maskedFill(greater, i)
      self.output:cmax(input[i])
   end
   return self.output
end

function CMaxTable:updateGradInput(input, gradOutput)
   for i, x in ipairs(input) do
      self.gradInput[i] = self.gradInput[i] or x.new()
      self.gradInput[i]:resizeAs(x):eq(self.maxIdx, i):cmul(gradOutput)
   end
   for i = #input + 1, #self.gradInput do self.gradInput[i] = nil end
   return self.gradInput
end

return CMaxTable
