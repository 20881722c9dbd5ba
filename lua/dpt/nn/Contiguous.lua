--- nn.Contiguous(): returns the input if it is contiguous, otherwise a contiguous copy.
-- Invariant: output and gradInput are contiguous.
-- @function nn.Contiguous
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor with any strides -> a contiguous one
-- @usage local x = torch.ones(2, 3):t()
--    return x:stride(), nn.Contiguous():forward(x):stride() --> 1x3, 2x1

local torch = require 'dpt.tensor'

local Contiguous = torch.class('nn.Contiguous', 'nn.Module')
Contiguous.outputSplit = Contiguous.sameSplit

function Contiguous:updateOutput(input)
   self.output:set(input:contiguous())
   return self.output
end

function Contiguous:updateGradInput(_, gradOutput)
   self.gradInput:set(gradOutput:contiguous())
   return self.gradInput
end

return Contiguous
