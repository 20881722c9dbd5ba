--- nn.MarginRankingCriterion(margin): max(0, margin - y (x1 - x2)) for a pair of inputs and a
-- target y of 1 (x1 should be larger) or -1. As in Torch7, the gradient at the hinge is not zero.
-- Invariant: single numbers are tensors of one element. With sizeAverage (the default) the sum is
-- divided by the first size, as in Torch7.
-- @function nn.MarginRankingCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a pair of B numbers, and B targets 1 or -1, returns the
--    loss
-- @usage nn.MarginRankingCriterion():forward({torch.Tensor{1}, torch.Tensor{3}}, 1) --> 3

local torch = require 'dpt.tensor'
local type = require('dpt.ffi').type

local MarginRankingCriterion, parent = torch.class('nn.MarginRankingCriterion', 'nn.Criterion')

function MarginRankingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self.sizeAverage = true
end

local function firstSize(t) return t:dim() > 0 and t:size(1) or 0 end

-- Returns margin - y (x1 - x2), and y as a tensor of the input's size.
local function hinge(self, input, target)
   local difference = torch.add(input[1], -1, input[2])
   local y
   if type(target) == 'number' then
      y = difference.new():resizeAs(difference):fill(target)
   else
      y = self:valuesFor(difference, target):contiguous():viewAs(difference)
   end
   return difference:cmul(y):mul(-1):add(self.margin), y
end

function MarginRankingCriterion:updateLoss(input, target)
   return self:sumOf(hinge(self, input, target):cmax(0), self:denominator(input))
end

function MarginRankingCriterion:denominator(input)
   return self.sizeAverage and firstSize(input[1])
end

function MarginRankingCriterion:updateGradInput(input, target)
   local each, y = hinge(self, input, target)
   local active = each.new():resizeAs(each):ge(each, 0):cmul(y)
   if self.sizeAverage then active:div(firstSize(each)) end
   self.gradInput[1]:resizeAs(input[1]):copy(active):mul(-1)
   self.gradInput[2]:resizeAs(input[2]):copy(active)
   return self.gradInput
end

return MarginRankingCriterion
