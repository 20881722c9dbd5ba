--- cudnn.SoftMax(): applies softmax over all elements of a sample.
-- Invariant: it computes nn.SoftMax on a different view of the input.

local torch = require 'dpt.tensor'
local softmax = require 'dpt.cudnn.softmax'

local SoftMax, parent = torch.class('cudnn.SoftMax', 'nn.SoftMax')

softmax.define(SoftMax, parent, softmax.instances)

--- Applies softmax over all elements of a sample.
-- @function cudnn.SoftMax
-- @as cudnn
-- @return a module; forward: n, N x n, C x H x W or N x C x H x W -> the same
--    size; the elements of a sample sum to 1
-- @usage cudnn.SoftMax():cuda():forward(torch.CudaTensor{{1, 1}}) --> [0.5 0.5]

return SoftMax
