--- nn.SoftMax(dim): applies softmax, e^x_i / sum_j e^x_j, over a dimension.
-- Invariant: output elements are positive and sum to 1.
-- @function nn.SoftMax
-- @within nn transfer
-- @as layer
-- @param dim? number: the dimension, from 1; negative: counted from the end (the first one of an
--    input of 1 or 3 dimensions, the second one of an input of 2 or 4, as in Torch7)
-- @return a module; forward: any tensor with a dimension dim, or n, B x n, C x H x W or
--    B x C x H x W -> the same size; elements sum to 1 over dim, n or C
-- @usage nn.SoftMax():forward(torch.Tensor{1, 1}), nn.SoftMax(-1):forward(torch.zeros(1, 1, 2))
--    --> [0.5 0.5], [0.5 0.5]

local torch = require 'dpt.tensor'
local softmax = require 'dpt.nn.softmax'

local SoftMax, parent = torch.class('nn.SoftMax', 'nn.Module')

function SoftMax:__init(dim)
   parent.__init(self)
   softmax.setDimension(self, dim)
end

function SoftMax:updateOutput(input) return softmax.forward(self, input, 0) end

function SoftMax:updateGradInput(_, gradOutput) return softmax.backward(self, gradOutput, 0) end

return SoftMax
