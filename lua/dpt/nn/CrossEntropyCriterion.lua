--- nn.CrossEntropyCriterion(weights, sizeAverage): nn.LogSoftMax and nn.ClassNLLCriterion in one:
-- input C or NxC of any numbers.
-- Invariant: extra dimensions of size 1 are left out of the input; gradInput has its size. A change
-- of sizeAverage reaches nll; one of nll.sizeAverage alone stays.
-- @function nn.CrossEntropyCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C numbers and B classes, or C and one, returns the
--    loss
-- @usage nn.CrossEntropyCriterion():forward(torch.zeros(1, 2), torch.LongTensor{1}) --> 0.6931

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local CrossEntropyCriterion, parent = torch.class('nn.CrossEntropyCriterion', 'nn.Criterion')

function CrossEntropyCriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.lsm = nn.LogSoftMax()
   self.nll = nn.ClassNLLCriterion(weights, sizeAverage)
   self.sizeAverage = self.nll.sizeAverage
   self.oldSizeAverage = self.sizeAverage
end

-- C or NxC; a matrix of one row or one column stays one.
local function rows(input)
   return input:dim() <= 2 and input or input:squeeze()
end

function CrossEntropyCriterion:updateLoss(input, target)
   if torch.isTensor(target) and target:dim() > 1 then target = target:view(-1) end
   if self.sizeAverage ~= self.oldSizeAverage then self.nll.sizeAverage = self.sizeAverage end
   self.oldSizeAverage = self.sizeAverage
   self.lsm:updateOutput(rows(input))
   return (self.nll:updateLoss(self.lsm.output, target))
end

function CrossEntropyCriterion:denominator()
   return self.nll:denominator()
end

function CrossEntropyCriterion:updateGradInput(input, target)
   if torch.isTensor(target) and target:dim() > 1 then target = target:view(-1) end
   self.nll:updateGradInput(self.lsm.output, target)
   self.lsm:updateGradInput(rows(input), self.nll.gradInput)
   self.gradInput = self.lsm.gradInput:viewAs(input)
   return self.gradInput
end

return CrossEntropyCriterion
