--- nn.CrossEntropyCriterion(weights, sizeAverage): nn.LogSoftMax followed by nn.ClassNLLCriterion,
-- -log(exp(x[y]) / sum_j exp(x[j])). Input holds unnormalized scores, C or N x C.
-- Invariant: as in Torch7, an input with more than two dimensions is squeezed (all dimensions of
-- size 1 are removed), and an input C x 1 with one target is one sample of C scores. gradInput has
-- the input's size. Setting sizeAverage also sets nll.sizeAverage; setting only nll.sizeAverage
-- takes effect as well.
-- @function nn.CrossEntropyCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes B x C scores and B classes, or C and one, returns the loss
-- @usage nn.CrossEntropyCriterion():forward(torch.zeros(1, 2), torch.LongTensor{1}) --> 0.6931

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local type = require('dpt.ffi').type

local CrossEntropyCriterion, parent = torch.class('nn.CrossEntropyCriterion', 'nn.Criterion')

function CrossEntropyCriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.lsm = nn.LogSoftMax()
   self.nll = nn.ClassNLLCriterion(weights, sizeAverage)
   self.sizeAverage = self.nll.sizeAverage
   self.oldSizeAverage = self.sizeAverage
end

-- Returns the input as C or N x C. N x 1 with N > 1 is one row of N scores if there is one target,
-- otherwise N rows.
local function rows(input, target)
   if input:dim() == 2 and input:size(2) == 1 and input:size(1) > 1 then
      local one = type(target) == 'number' or target:nElement() == 1
      return one and input:select(2, 1) or input
   end
   return input:dim() <= 2 and input or input:squeeze()
end

local function passSizeAverage(self)
   if self.sizeAverage ~= self.oldSizeAverage then self.nll.sizeAverage = self.sizeAverage end
   self.oldSizeAverage = self.sizeAverage
end

function CrossEntropyCriterion:updateLoss(input, target)
   if torch.isTensor(target) and target:dim() > 1 then target = target:view(-1) end
   passSizeAverage(self)
   self.lsm:updateOutput(rows(input, target))
   return (self.nll:updateLoss(self.lsm.output, target))
end

function CrossEntropyCriterion:denominator(input, target)
   return self.nll:denominator(input, target)
end

function CrossEntropyCriterion:updateGradInput(input, target)
   if torch.isTensor(target) and target:dim() > 1 then target = target:view(-1) end
   passSizeAverage(self)
   self.nll:updateGradInput(self.lsm.output, target)
   self.lsm:updateGradInput(rows(input, target), self.nll.gradInput)
   self.gradInput = self.lsm.gradInput:viewAs(input)
   return self.gradInput
end

return CrossEntropyCriterion
