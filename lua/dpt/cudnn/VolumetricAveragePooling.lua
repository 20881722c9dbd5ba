--- cudnn.VolumetricAveragePooling(kT, kW, kH, dT, dW, dH, padT, padW, padH):
-- nn.VolumetricAveragePooling with padding; averages include the padded zeros.
-- Invariant: strides default to the window, as in cudnn.torch.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local VolumetricAveragePooling, parent =
   torch.class('cudnn.VolumetricAveragePooling', 'nn.VolumetricAveragePooling')

function VolumetricAveragePooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self, kT, kW, kH, dT, dW, dH)
   self.padT, self.padW, self.padH = padT or 0, padW or 0, padH or 0
   self.ceil_mode = false
end

--- Includes windows that begin inside the volume but end outside (ceil), or excludes them (floor).
-- @function cudnn.VolumetricAveragePooling:ceil
-- @as cudnn
-- @also cudnn.VolumetricAveragePooling:floor()
-- @return the module
-- @usage local m = cudnn.VolumetricAveragePooling(2, 2, 2):cuda()
--    local x = torch.CudaTensor(1, 3, 3, 3):fill(1)
--    return m:forward(x):size(), m:ceil():forward(x):size() --> 1x1x1x1, 1x2x2x2
VolumetricAveragePooling.ceil = nn.SpatialAveragePooling.ceil
VolumetricAveragePooling.floor = nn.SpatialAveragePooling.floor

--- Averages over every window of a volume, with padding.
-- @function cudnn.VolumetricAveragePooling
-- @as cudnn
-- @return a module; forward: (N x) C x T x H x W -> (N x) C x T' x H' x W'
-- @usage cudnn.VolumetricAveragePooling(2, 2, 2, 2, 2, 2, 1, 1, 1)
--       :cuda() :forward(torch.CudaTensor(1, 2, 2, 2):fill(8)):sum() --> 8

return VolumetricAveragePooling
