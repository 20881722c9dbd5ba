--- nn.SpatialDropout(p, stochasticInference): zeroes whole planes with probability p during
-- training and multiplies by 1-p during evaluation.
-- Invariant: input is (N)xCxHxW. Each plane of each sample is drawn independently.
-- @function nn.SpatialDropout
-- @within nn normalization
-- @as layer
-- @return a module; forward: B x C x H x W or C x H x W -> the same size
-- @usage local m = nn.SpatialDropout(0.5)
--    m:evaluate()
--    return m:forward(torch.ones(2, 1, 1)) --> [0.5 0.5]

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local SpatialDropout, parent = torch.class('nn.SpatialDropout', 'nn.Dropout')

function SpatialDropout:__init(p, stochasticInference)
   parent.__init(self, p, true, false, stochasticInference)
end

function SpatialDropout:resizeNoise(input)
   if input:dim() == 4 then
      self.noise:resize(input:size(1), input:size(2), 1, 1)
   elseif input:dim() == 3 then
      self.noise:resize(input:size(1), 1, 1)
   else
      fail('nn.SpatialDropout: input has %d dimensions, wanted 3 or 4', input:dim())
   end
end

return SpatialDropout
