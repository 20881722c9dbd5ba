--- cudnn.SpatialCrossEntropyCriterion(weights): combines nn.LogSoftMax over planes and
-- nn.SpatialClassNLLCriterion: input NxCxHxW, target NxHxW.
-- Invariant: weights, one per class, weight the average as in nn.ClassNLLCriterion.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local SpatialCrossEntropyCriterion, parent =
   torch.class('cudnn.SpatialCrossEntropyCriterion', 'nn.Criterion')

function SpatialCrossEntropyCriterion:__init(weights)
   parent.__init(self)
   self.slsm = nn.SpatialLogSoftMax()
   self.nll = nn.SpatialClassNLLCriterion(weights)
   self.sizeAverage = true
end

function SpatialCrossEntropyCriterion:updateLoss(input, target)
   if input:dim() ~= 4 then
      fail('cudnn.SpatialCrossEntropyCriterion: input has %d dimensions, wanted 4', input:dim())
   end
   self.nll.sizeAverage = self.sizeAverage
   return (self.nll:updateLoss(self.slsm:updateOutput(input), target))
end

function SpatialCrossEntropyCriterion:denominator(input, target)
   return self.nll:denominator(input, target)
end

function SpatialCrossEntropyCriterion:updateGradInput(input, target)
   self.nll.sizeAverage = self.sizeAverage
   self.nll:updateGradInput(self.slsm.output, target)
   self.gradInput = self.slsm:updateGradInput(input, self.nll.gradInput)
   return self.gradInput
end

--- Computes the cross entropy of the class of each pixel: combines nn.LogSoftMax over planes and
-- nn.SpatialClassNLLCriterion.
-- @function cudnn.SpatialCrossEntropyCriterion
-- @as cudnn
-- @return a criterion; forward: N x C x H x W and N x H x W classes -> a number
-- @usage cudnn.SpatialCrossEntropyCriterion():cuda():forward(torch.CudaTensor(1, 2, 1,
--       1):fill(0), torch.CudaTensor(1, 1, 1):fill(1)) --> 0.6931

return SpatialCrossEntropyCriterion
