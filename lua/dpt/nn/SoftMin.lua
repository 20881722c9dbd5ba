--- nn.SoftMin(): nn.SoftMax of -x.
-- Invariant: as in nn.SoftMax.

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local SoftMin, parent = torch.class('nn.SoftMin', 'nn.Module')

function SoftMin:updateOutput(input)
   self.mininput = self.mininput or input.new()
   self.mininput:resizeAs(input):mul(input, -1)
   lib.softmax_forward(self.output, self.mininput, 0)
   return self.output
end

function SoftMin:updateGradInput(_, gradOutput)
   lib.softmax_backward(self.gradInput, gradOutput, self.output, 0)
   self.gradInput:mul(-1)
   return self.gradInput
end

function SoftMin:clearState()
   self.mininput = nil
   return parent.clearState(self)
end

return SoftMin
