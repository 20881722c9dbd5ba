--- nn.SpatialDilatedMaxPooling(kW, kH, dW, dH, padW, padH, dilationW, dilationH):
-- nn.SpatialMaxPooling whose windows read every dilation-th pixel.
-- Invariant: otherwise it is nn.SpatialMaxPooling.

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
