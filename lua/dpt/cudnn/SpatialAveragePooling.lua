--- cudnn.SpatialAveragePooling(kW, kH, dW, dH, padW, padH): nn.SpatialAveragePooling.
-- Invariant: strides default to the window, as in cudnn.torch.

local torch = require 'dpt.tensor'

local SpatialAveragePooling, parent =
   torch.class('cudnn.SpatialAveragePooling', 'nn.SpatialAveragePooling')

function SpatialAveragePooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self, kW, kH, dW or kW, dH or kH, padW, padH)
end

--- Averages over every window of an image. Strides default to the window's size.
-- @function cudnn.SpatialAveragePooling
-- @as cudnn
-- @return a module; forward: (N x) C x H x W -> (N x) C x H' x W'
-- @usage cudnn.SpatialAveragePooling(2, 2)
--       :cuda() :forward(torch.CudaTensor(1, 4, 4):fill(3)) --> [3 3 3 3]

return SpatialAveragePooling
