--- nn.SpatialAutoCropMSECriterion(sizeAverage): computes nn.MSECriterion between the input and the
-- center of a target that is as large or larger.
-- Invariant: input and target are CxHxW or NxCxHxW with equal numbers of planes.
-- @function nn.SpatialAutoCropMSECriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x H x W and a target at least as large, crops the target to
--    its center and returns the loss
-- @usage nn.SpatialAutoCropMSECriterion() :forward(torch.zeros(1, 1, 2, 2), torch.ones(1,
--       1, 4, 4)) --> 1

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local SpatialAutoCropMSECriterion, parent =
   torch.class('nn.SpatialAutoCropMSECriterion', 'nn.MSECriterion')

local function crop(input, target)
   local dims = input:dim()
   if dims ~= target:dim() or (dims ~= 3 and dims ~= 4) then
      fail('nn.SpatialAutoCropMSECriterion: input has %d dimensions and target %d, wanted 3 or 4',
         dims, target:dim())
   end
   for d = dims - 1, dims do
      local extra = target:size(d) - input:size(d)
      if extra < 0 then
         fail('nn.SpatialAutoCropMSECriterion: target has size %d in dimension %d, wanted %d or'
            .. ' more', target:size(d), d, input:size(d))
      end
      target = target:narrow(d, math.floor(extra / 2) + 1, input:size(d))
   end
   return target
end

function SpatialAutoCropMSECriterion:updateLoss(input, target)
   return parent.updateLoss(self, input, crop(input, target))
end

function SpatialAutoCropMSECriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, crop(input, target))
end

return SpatialAutoCropMSECriterion
