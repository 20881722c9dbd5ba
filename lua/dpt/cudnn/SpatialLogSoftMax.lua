--- cudnn.SpatialLogSoftMax(): applies log-softmax over the planes of each pixel, or over each row.
-- Invariant: it computes nn.SpatialLogSoftMax on a different view of the input.

local torch = require 'dpt.tensor'
local softmax = require 'dpt.cudnn.softmax'

local SpatialLogSoftMax, parent = torch.class('cudnn.SpatialLogSoftMax', 'nn.SpatialLogSoftMax')

softmax.define(SpatialLogSoftMax, parent, softmax.channels)

--- Applies log-softmax over the planes of an image, for every pixel, or over each row.
-- @function cudnn.SpatialLogSoftMax
-- @as cudnn
-- @return a module; forward: (N x) C x H x W, or (N x) C -> the same size
-- @usage cudnn.SpatialLogSoftMax():cuda():forward(torch.CudaTensor(1, 2, 1, 1):fill(1))
--    --> [-0.6931 -0.6931]

return SpatialLogSoftMax
