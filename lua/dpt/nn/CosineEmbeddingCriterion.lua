--- nn.CosineEmbeddingCriterion(margin): loss on the cosine similarity c of two vectors, or of the
-- rows of two matrices: 1 - c if the target is 1, max(0, c - margin) if it is -1.
-- Invariant: with sizeAverage (the default) the losses of a batch are averaged.
-- @function nn.CosineEmbeddingCriterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes a pair of B x n, and B targets 1 or -1, returns the loss
-- @usage nn.CosineEmbeddingCriterion():forward({torch.Tensor{1, 0}, torch.Tensor{0, 1}}, 1)
--    --> 1

local torch = require 'dpt.tensor'
local losses = require 'dpt.nn.losses'
local type = require('dpt.ffi').type

local CosineEmbeddingCriterion, parent = torch.class('nn.CosineEmbeddingCriterion', 'nn.Criterion')

function CosineEmbeddingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 0
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self.sizeAverage = true
end

local function rows(t)
   return t:dim() == 1 and t:contiguous():view(1, -1) or t
end

-- Returns the cosine of each pair of rows, the targets and the terms of the gradient, all N x 1.
local function cosines(self, input, target)
   local a, b = rows(input[1]), rows(input[2])
   local aa, bb = torch.cmul(a, a):sum(2):add(1e-12), torch.cmul(b, b):sum(2):add(1e-12)
   local inverse = torch.cmul(aa, bb):sqrt():pow(-1)
   local c = torch.cmul(a, b):sum(2):cmul(inverse)
   local y
   if type(target) == 'number' then
      y = c.new():resizeAs(c):fill(target)
   else
      y = self:valuesFor(c, target):contiguous():view(-1, 1)
   end
   return c, y, inverse, aa, bb, a, b
end

function CosineEmbeddingCriterion:updateLoss(input, target)
   local c, y = cosines(self, input, target)
   local isSimilar = torch.eq(y, 1)
   local dissimilar = torch.add(c, -self.margin):cmax(0)
   dissimilar:maskedFill(isSimilar, 0)
   local same = c:mul(-1):add(1)
   same:maskedFill(torch.ne(y, 1), 0)
   return self:sumOf(dissimilar:add(1, same), self:denominator(input))
end

function CosineEmbeddingCriterion:denominator(input)
   return losses.rows(self, input[1])
end

function CosineEmbeddingCriterion:updateGradInput(input, target)
   local c, y, inverse, aa, bb, a, b = cosines(self, input, target)
   -- d(loss)/dc: -1 where similar, 1 where dissimilar and above the margin
   local slope = c.new():resizeAs(c):gt(c, self.margin)
   slope:maskedFill(torch.eq(y, 1), -1)
   if self.sizeAverage then slope:div(y:size(1)) end
   for i, pair in ipairs{{a, b, aa}, {b, a, bb}} do
      local own, other, square = pair[1], pair[2], pair[3]
      local gradient = self.gradInput[i]
      gradient:resizeAs(own):copy(other):cmul(inverse:expandAs(own))
         :addcmul(-1, torch.cdiv(c, square):expandAs(own), own):cmul(slope:expandAs(own))
      if input[i]:dim() == 1 then gradient:resize(input[i]:size()) end
   end
   return self.gradInput
end

return CosineEmbeddingCriterion
