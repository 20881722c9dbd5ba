--- nn.LogSoftMax(dim): y_i = log(exp(x_i) / sum_j exp(x_j)), over a dimension.
-- Invariant: finite and accurate even where SoftMax underflows to 0.
-- @function nn.LogSoftMax
-- @within nn transfer
-- @as layer
-- @param dim? number: the dimension, from 1; negative: counted from the end (the first one of an
--    input of 1 or 3 dimensions, the second one of an input of 2 or 4, as in Torch7)
-- @return a module; forward: any tensor with a dimension dim, or n, B x n, C x H x W or
--    B x C x H x W -> the same size
-- @usage nn.LogSoftMax():forward(torch.Tensor{1, 1}) --> [-0.6931 -0.6931]

local torch = require 'dpt.tensor'
local softmax = require 'dpt.nn.softmax'

local LogSoftMax, parent = torch.class('nn.LogSoftMax', 'nn.Module')

function LogSoftMax:__init(dim)
   parent.__init(self)
   softmax.setDimension(self, dim)
end

function LogSoftMax:updateOutput(input) return softmax.forward(self, input, 1) end

function LogSoftMax:updateGradInput(_, gradOutput) return softmax.backward(self, gradOutput, 1) end

return LogSoftMax
