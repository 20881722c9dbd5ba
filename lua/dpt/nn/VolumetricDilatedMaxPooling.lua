--- nn.VolumetricDilatedMaxPooling(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
-- dilationH): takes the maximum of every dilated window of a volume.
-- Invariant: all else is as in nn.VolumetricMaxPooling.
-- @function nn.VolumetricDilatedMaxPooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: as nn.VolumetricMaxPooling with windows of size dilation (k - 1) + 1
-- @usage nn.VolumetricDilatedMaxPooling(2, 2, 2, 1, 1, 1, 0, 0, 0, 2, 2, 2)
--       :forward(torch.ones(1, 1, 4, 4, 4)):size() --> 1x1x2x2x2

local torch = require 'dpt.tensor'

local VolumetricDilatedMaxPooling, parent =
   torch.class('nn.VolumetricDilatedMaxPooling', 'nn.VolumetricMaxPooling')

function VolumetricDilatedMaxPooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT,
   dilationW, dilationH)
   parent.__init(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.dilationT = dilationT or 1
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

function VolumetricDilatedMaxPooling:__tostring__()
   return (parent.__tostring__(self):gsub('%)$', (', %d,%d,%d)'):format(self.dilationT,
      self.dilationW, self.dilationH)))
end

return VolumetricDilatedMaxPooling
