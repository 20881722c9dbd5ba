--- nn.L1HingeEmbeddingCriterion(margin): with d = |x1 - x2|_1 of two vectors, the loss is d if the
-- target is 1 and max(0, margin - d) if it is -1.
-- Invariant: the host computes the loss from the distance, so forward and backward wait for it.
-- @function nn.L1HingeEmbeddingCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a pair of vectors, and 1 or -1, returns the loss
-- @usage nn.L1HingeEmbeddingCriterion():forward({torch.Tensor{1}, torch.Tensor{3}}, 1) --> 2

local torch = require 'dpt.tensor'

local L1HingeEmbeddingCriterion, parent =
   torch.class('nn.L1HingeEmbeddingCriterion', 'nn.Criterion')

function L1HingeEmbeddingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

local function sign(target)
   return torch.isTensor(target) and target[1] or target
end

function L1HingeEmbeddingCriterion:updateOutput(input, target)
   local distance = torch.add(input[1], -1, input[2]):norm(1)
   self.output = sign(target) == -1 and math.max(0, self.margin - distance) or distance
   return self.output
end

function L1HingeEmbeddingCriterion:updateGradInput(input, target)
   local difference = torch.add(input[1], -1, input[2])
   local distance = difference:norm(1)
   local factor = 1
   if sign(target) == -1 then factor = distance > self.margin and 0 or -1 end
   self.gradInput[1]:resizeAs(input[1]):sign(difference):mul(factor)
   self.gradInput[2]:resizeAs(input[2]):mul(self.gradInput[1], -1)
   return self.gradInput
end

return L1HingeEmbeddingCriterion
