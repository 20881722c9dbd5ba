--- nn.VolumetricDropout(p, stochasticInference): sets whole volumes to 0 with probability p in
-- training and multiplies by 1-p in evaluation.
-- Invariant: input is (N)xCxTxHxW; one draw for every row and channel.

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local VolumetricDropout, parent = torch.class('nn.VolumetricDropout', 'nn.Dropout')

function VolumetricDropout:__init(p, stochasticInference)
   parent.__init(self, p, true, false, stochasticInference)
end

function VolumetricDropout:resizeNoise(input)
   if input:dim() == 5 then
      self.noise:resize(input:size(1), input:size(2), 1, 1, 1)
   elseif input:dim() == 4 then
      self.noise:resize(input:size(1), 1, 1, 1)
   else
      fail('nn.VolumetricDropout: input has %d dimensions, wanted 4 or 5', input:dim())
   end
end

return VolumetricDropout
