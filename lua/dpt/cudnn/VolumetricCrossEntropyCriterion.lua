--- cudnn.VolumetricCrossEntropyCriterion(weights): cudnn.SpatialCrossEntropyCriterion for volumes:
-- input NxCxTxHxW, target NxTxHxW.
-- Invariant: the criterion in the field scec receives a volume as an image of T H rows.

local torch = require 'dpt.tensor'
local cudnn = require 'dpt.cudnn'
local fail = require('dpt.ffi').fail

local VolumetricCrossEntropyCriterion, parent =
   torch.class('cudnn.VolumetricCrossEntropyCriterion', 'nn.Criterion')

function VolumetricCrossEntropyCriterion:__init(weights)
   parent.__init(self)
   self.scec = cudnn.SpatialCrossEntropyCriterion(weights)
end

local function images(input, target)
   if input:dim() ~= 5 or target:dim() ~= 4 then
      fail('cudnn.VolumetricCrossEntropyCriterion: input and target have %d and %d dimensions, '
         .. 'wanted 5 and 4', input:dim(), target:dim())
   end
   local n, c, t, h, w = unpack(input:size():totable())
   return input:contiguous():view(n, c, t * h, w),
      target:contiguous():view(target:size(1), -1, target:size(4))
end

function VolumetricCrossEntropyCriterion:updateLoss(input, target)
   return self.scec:updateLoss(images(input, target))
end

function VolumetricCrossEntropyCriterion:denominator(input, target)
   return self.scec:denominator(input, target)
end

function VolumetricCrossEntropyCriterion:updateGradInput(input, target)
   self.gradInput = self.scec:updateGradInput(images(input, target)):viewAs(input)
   return self.gradInput
end

--- Computes the cross entropy of the class of each voxel.
-- @function cudnn.VolumetricCrossEntropyCriterion
-- @as cudnn
-- @return a criterion; forward: N x C x T x H x W and N x T x H x W classes -> a number
-- @usage cudnn.VolumetricCrossEntropyCriterion():cuda():forward(torch.CudaTensor(1, 2, 1,
--       1, 1):fill(0), torch.CudaTensor(1, 1, 1, 1):fill(2)) --> 0.6931

return VolumetricCrossEntropyCriterion
