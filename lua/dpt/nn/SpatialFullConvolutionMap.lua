--- nn.SpatialFullConvolutionMap(conMatrix, kW, kH, dW, dH): nn.SpatialFullConvolution in which only
-- the rows {input plane, output plane} of a table are connected.
-- Invariant: fields as in nn.SpatialConvolutionMap.
-- @function nn.SpatialFullConvolutionMap
-- @within nn convolution
-- @as layer
-- @param conMatrix n x 2: which input plane goes to which output plane
-- @return a module; forward: one image planes x H x W -> the table's outputs, enlarged
-- @usage nn.SpatialFullConvolutionMap(nn.tables.oneToOne(2), 3, 3) :forward(torch.ones(2,
--       4, 4)):size() --> 2x6x6

local torch = require 'dpt.tensor'

local SpatialFullConvolutionMap =
   torch.class('nn.SpatialFullConvolutionMap', 'nn.SpatialConvolutionMap')

SpatialFullConvolutionMap.transposed = true

return SpatialFullConvolutionMap
