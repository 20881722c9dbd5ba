--- cudnn.SpatialAveragePooling(kW, kH, dW, dH, padW, padH): nn.SpatialAveragePooling.
-- Invariant: strides default to the window, as in cudnn.torch.

local torch = require 'dpt.tensor'

local SpatialAveragePooling, parent =
   torch.class('cudnn.SpatialAveragePooling', 'nn.SpatialAveragePooling')

function SpatialAveragePooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self, kW, kH, dW or kW, dH or kH, padW, padH)
end

return SpatialAveragePooling
