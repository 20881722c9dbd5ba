--- nn.LogSoftMax(): y_i = log(exp(x_i) / sum_j exp(x_j)), over the features of each sample or
-- pixel.
-- Invariant: finite and accurate even where SoftMax underflows to 0.
-- @function nn.LogSoftMax
-- @within nn transfer
-- @as layer
-- @return a module; forward: n, B x n, C x H x W or B x C x H x W -> the same size
-- @usage nn.LogSoftMax():forward(torch.Tensor{1, 1}) --> [-0.6931 -0.6931]

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
