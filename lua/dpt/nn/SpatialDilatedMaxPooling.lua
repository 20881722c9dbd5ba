--- nn.SpatialDilatedMaxPooling(kW, kH, dW, dH, padW, padH, dilationW, dilationH): takes the maximum
-- of every dilated window of an image; window elements are `dilation` pixels apart.
-- Invariant: all else is as in nn.SpatialMaxPooling.
-- @function nn.SpatialDilatedMaxPooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: as nn.SpatialMaxPooling with windows of size dilation (k - 1) + 1
-- @usage nn.SpatialDilatedMaxPooling(2, 2, 1, 1, 0, 0, 2, 2)
--       :forward(torch.ones(1, 5, 5)) :size() --> 1x3x3

local torch = require 'dpt.tensor'

local SpatialDilatedMaxPooling, parent =
   torch.class('nn.SpatialDilatedMaxPooling', 'nn.SpatialMaxPooling')

function SpatialDilatedMaxPooling:__init(kW, kH, dW, dH, padW, padH, dilationW, dilationH)
   parent.__init(self, kW, kH, dW, dH, padW, padH)
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

function SpatialDilatedMaxPooling:__tostring__()
   local s = parent.__tostring__(self):sub(1, -2)
   return s .. (', %d,%d)'):format(self.dilationW, self.dilationH)
end

return SpatialDilatedMaxPooling
