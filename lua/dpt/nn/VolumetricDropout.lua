--- nn.VolumetricDropout(p, stochasticInference): zeroes whole volumes with probability p during
-- training and multiplies by 1-p during evaluation.
-- Invariant: input is (N)xCxTxHxW. Each channel of each sample is drawn independently.
-- @function nn.VolumetricDropout
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x C x T x H x W or C x T x H x W -> the same size
-- @usage local m = nn.VolumetricDropout(0.25)
--    m:evaluate()
--    return m:forward(torch.ones(2, 1, 1, 1)) --> [0.75 0.75]

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
