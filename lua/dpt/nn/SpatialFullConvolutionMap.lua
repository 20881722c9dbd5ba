--- nn.SpatialFullConvolutionMap(conMatrix, kW, kH, dW, dH): applies a transposed 2-D convolution
-- that connects only the pairs {input plane, output plane} in the rows of a table.
-- Invariant: fields are as in nn.SpatialConvolutionMap.
-- @function nn.SpatialFullConvolutionMap
-- @within nn convolution
-- @as layer
-- @param conMatrix n x 2: pairs of connected input and output planes
-- @return a module; forward: one image planes x H x W -> the table's output planes, enlarged
-- @usage nn.SpatialFullConvolutionMap(nn.tables.oneToOne(2), 3, 3) :forward(torch.ones(2,
--       4, 4)):size() --> 2x6x6

local torch = require 'dpt.tensor'

local SpatialFullConvolutionMap =
   torch.class('nn.SpatialFullConvolutionMap', 'nn.SpatialConvolutionMap')

SpatialFullConvolutionMap.transposed = true

return SpatialFullConvolutionMap
