--- cudnn.LogSoftMax(): applies log-softmax over all elements of a sample.
-- Invariant: it computes nn.LogSoftMax on a different view of the input.

local torch = require 'dpt.tensor'
local softmax = require 'dpt.cudnn.softmax'

local LogSoftMax, parent = torch.class('cudnn.LogSoftMax', 'nn.LogSoftMax')

softmax.define(LogSoftMax, parent, softmax.instances)

--- Applies log-softmax over all elements of a sample.
-- @function cudnn.LogSoftMax
-- @as cudnn
-- @return a module; forward: n, N x n, C x H x W or N x C x H x W -> the same
--    size
-- @usage cudnn.LogSoftMax():cuda():forward(torch.CudaTensor{{1, 1}}) --> [-0.6931 -0.6931]

return LogSoftMax
