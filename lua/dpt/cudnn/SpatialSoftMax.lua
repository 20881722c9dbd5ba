--- cudnn.SpatialSoftMax(): applies softmax over the planes of each pixel, or over each row.
-- Invariant: it computes nn.SpatialSoftMax on a different view of the input.

local torch = require 'dpt.tensor'
local softmax = require 'dpt.cudnn.softmax'

local SpatialSoftMax, parent = torch.class('cudnn.SpatialSoftMax', 'nn.SpatialSoftMax')

softmax.define(SpatialSoftMax, parent, softmax.channels)

--- Applies softmax over the planes of an image, for every pixel, or over each row.
-- @function cudnn.SpatialSoftMax
-- @as cudnn
-- @return a module; forward: (N x) C x H x W, or (N x) C -> the same size
-- @usage cudnn.SpatialSoftMax():cuda():forward(torch.CudaTensor(1, 2, 1, 1):fill(1))
--    --> [0.5 0.5]

return SpatialSoftMax
