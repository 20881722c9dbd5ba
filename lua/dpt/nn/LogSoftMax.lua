--- nn.LogSoftMax(): the logarithm of nn.SoftMax.
-- Invariant: it is exact also where SoftMax is 0.

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local LogSoftMax = torch.class('nn.LogSoftMax', 'nn.Module')

function LogSoftMax:updateOutput(input)
   lib.softmax_forward(self.output, input, 1)
   return self.output
end

function LogSoftMax:updateGradInput(_, gradOutput)
   lib.softmax_backward(self.gradInput, gradOutput, self.output, 1)
   return self.gradInput
end

return LogSoftMax
