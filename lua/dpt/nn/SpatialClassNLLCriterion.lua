--- nn.SpatialClassNLLCriterion(weights, sizeAverage): computes nn.ClassNLLCriterion over all pixels
-- of an input NxCxHxW, with target NxHxW.
-- Invariant: all else is as in nn.ClassNLLCriterion.
-- @function nn.SpatialClassNLLCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C x H x W log-probabilities and B x H x W classes,
--    returns the loss and the sum of weights
-- @usage nn.SpatialClassNLLCriterion() :forward(torch.Tensor(1, 2, 1, 1):fill(-2),
--       torch.LongTensor(1, 1, 1):fill(1)) --> 2, 1

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local SpatialClassNLLCriterion, parent =
   torch.class('nn.SpatialClassNLLCriterion', 'nn.ClassNLLCriterion')

function SpatialClassNLLCriterion:updateLoss(input, target)
   if input:dim() ~= 4 or target:dim() ~= 3 then
      fail('nn.SpatialClassNLLCriterion: input has %d dimensions and target %d, wanted 4 and 3',
         input:dim(), target:dim())
   end
   return parent.updateLoss(self, input, target)
end

return SpatialClassNLLCriterion
