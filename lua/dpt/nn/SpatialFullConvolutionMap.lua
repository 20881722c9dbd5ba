--- nn.SpatialFullConvolutionMap(conMatrix, kW, kH, dW, dH): nn.SpatialFullConvolution in which only
-- the rows {input plane, output plane} of a table are connected.
-- Invariant: fields as in nn.SpatialConvolutionMap.

local torch = require 'dpt.tensor'

local SpatialFullConvolutionMap =
   torch.class('nn.SpatialFullConvolutionMap', 'nn.SpatialConvolutionMap')

SpatialFullConvolutionMap.transposed = true

return SpatialFullConvolutionMap
