--- nn.VolumetricFractionalMaxPooling(poolT, poolW, poolH, outT, outW, outH): as
-- nn.SpatialFractionalMaxPooling, for volumes (N)xCxTxHxW.
-- What must stay true: every row and plane draws three numbers.

local torch = require 'dpt.tensor'

local VolumetricFractionalMaxPooling, parent =
   torch.class('nn.VolumetricFractionalMaxPooling', 'nn.SpatialFractionalMaxPooling')

function VolumetricFractionalMaxPooling:__init(poolSizeT, poolSizeW, poolSizeH, arg1, arg2, arg3)
   parent.__init(self, poolSizeW, poolSizeH, arg2, arg3)
   self.poolSizeT = poolSizeT
   if type(arg1) ~= 'number' or arg1 <= 0 or (arg1 < 1) ~= (self.ratioW ~= nil) then
      error('nn.VolumetricFractionalMaxPooling: wants output sizes of 1 and above, or all below 1'
         .. ' as shares', 2)
   end
   if self.ratioW then self.ratioT = arg1 else self.outT = arg1 end
end

function VolumetricFractionalMaxPooling:shapes(input)
   local out, pool = parent.shapes(self, input)
   local outT = self.outT or math.floor(input:size(input:dim() - 2) * self.ratioT)
   table.insert(out, 1, outT)
   table.insert(pool, 1, self.poolSizeT)
   return out, pool
end

return VolumetricFractionalMaxPooling
