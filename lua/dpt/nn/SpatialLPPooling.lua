--- nn.SpatialLPPooling(nInputPlane, pnorm, kW, kH, dW, dH): computes the p-norm of every window of
-- an image.
-- Invariant: it consists of powers around nn.SpatialAveragePooling.
-- @function nn.SpatialLPPooling
-- @within nn pooling
-- @as layer
-- @param pnorm exponent of the norm (2)
-- @return a module; forward: B x nInputPlane x H x W -> B x nInputPlane x oH x oW
-- @usage nn.SpatialLPPooling(1, 2, 2, 2):forward(torch.ones(1, 4, 4)):size() --> 1x2x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local SpatialLPPooling, parent = torch.class('nn.SpatialLPPooling', 'nn.Sequential')

function SpatialLPPooling:__init(nInputPlane, pnorm, kW, kH, dW, dH)
   parent.__init(self)
   pnorm = pnorm or 2
   self.nInputPlane = nInputPlane
   self.kW, self.kH, self.dW, self.dH = kW, kH, dW or kW, dH or kH
   self:add(pnorm == 2 and nn.Square() or nn.Power(pnorm))
   self:add(nn.SpatialAveragePooling(kW, kH, self.dW, self.dH))
   self:add(nn.MulConstant(kW * kH))
   self:add(pnorm == 2 and nn.Sqrt() or nn.Power(1 / pnorm))
end

-- The module has no learnable parameters.
function SpatialLPPooling:reset() end
function SpatialLPPooling:accGradParameters() end
function SpatialLPPooling:accUpdateGradParameters() end
function SpatialLPPooling:zeroGradParameters() end
function SpatialLPPooling:updateParameters() end

return SpatialLPPooling
