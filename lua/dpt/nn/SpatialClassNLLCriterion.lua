--- nn.SpatialClassNLLCriterion(weights, sizeAverage): nn.ClassNLLCriterion for every pixel: input
-- NxCxHxW, target NxHxW.
-- Invariant: otherwise it is nn.ClassNLLCriterion.

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
