--- nn.SpatialDilatedConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, dilationW,
-- dilationH): nn.SpatialConvolution whose kernel reads every dilation-th pixel.
-- What must stay true: weights as in nn.SpatialConvolution.

local torch = require 'dpt.tensor'

local SpatialDilatedConvolution, parent =
   torch.class('nn.SpatialDilatedConvolution', 'nn.SpatialConvolution')

function SpatialDilatedConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH,
   dilationW, dilationH)
   parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.dilationW = dilationW or 1
   self.dilationH = dilationH or 1
end

function SpatialDilatedConvolution:__tostring__()
   local s = ('%s(%d -> %d, %dx%d, %d,%d'):format(torch.type(self), self.nInputPlane,
      self.nOutputPlane, self.kW, self.kH, self.dW, self.dH)
   if self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d'):format(self.padW, self.padH)
   end
   s = s .. (', %d,%d'):format(self.dilationW, self.dilationH)
   return s .. (self.bias and ')' or ') without bias')
end

return SpatialDilatedConvolution
