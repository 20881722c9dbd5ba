--- nn.Contiguous(): a contiguous copy of its input, or the input where it is contiguous already.
-- What must stay true: output and gradInput are contiguous.

local torch = require 'dpt.tensor'

local Contiguous = torch.class('nn.Contiguous', 'nn.Module')

function Contiguous:updateOutput(input)
   if input:isContiguous() then
      self.output:set(input)
   else
      self.output = input:contiguous()
   end
   return self.output
end

function Contiguous:updateGradInput(_, gradOutput)
   if gradOutput:isContiguous() then
      self.gradInput:set(gradOutput)
   else
      self.gradInput = gradOutput:contiguous()
   end
   return self.gradInput
end

return Contiguous
