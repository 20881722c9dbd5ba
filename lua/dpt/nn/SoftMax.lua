--- nn.SoftMax(): applies softmax, e^x_i / sum_j e^x_j, over the first dimension of a vector or an
-- image, or over the second dimension of a batch.
-- Invariant: output elements are positive and sum to 1.
-- @function nn.SoftMax
-- @within nn transfer
-- @as layer
-- @return a module; forward: n, B x n, C x H x W or B x C x H x W -> the same size; elements sum
--    to 1 over n or C
-- @usage nn.SoftMax():forward(torch.Tensor{1, 1}) --> [0.5 0.5]

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local SoftMax = torch.class('nn.SoftMax', 'nn.Module')

function SoftMax:updateOutput(input)
   lib.softmax_forward(self.output, input, 0)
   return self.output
end

function SoftMax:updateGradInput(_, gradOutput)
   lib.softmax_backward(self.gradInput, gradOutput, self.output, 0)
   return self.gradInput
end

return SoftMax
