--- nn.ClassSimplexCriterion(nClasses): nn.MSECriterion against the corner of a regular simplex that
-- stands for each class.
-- Invariant: corners have length 1 and equal distances; the last component is 0.
-- @function nn.ClassSimplexCriterion
-- @within nn criterions
-- @as criterion
-- @param nClasses how many classes, at least 2
-- @return a criterion; forward takes B x nClasses, and B classes, returns the loss
-- @usage nn.ClassSimplexCriterion(3):forward(torch.zeros(1, 3), torch.Tensor{1}) --> 0.3333

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local ClassSimplexCriterion, parent = torch.class('nn.ClassSimplexCriterion', 'nn.MSECriterion')

-- The n+1 corners of a regular simplex in n dimensions, centred, of length 1.
local function corners(n)
   local a = torch.zeros(n + 1, n)
   for k = 1, n do
      local square = 0
      for j = 1, k - 1 do square = square + a[k][j] ^ 2 end
      a[k][k] = math.sqrt(1 - square)
      -- the scalar product with all later corners is -1/n
      local c = (a[k][k] ^ 2 - 1 - 1 / n) / a[k][k]
      for i = k + 1, n + 1 do a[i][k] = c end
   end
   return a
end

function ClassSimplexCriterion:__init(nClasses)
   parent.__init(self)
   if type(nClasses) ~= 'number' or nClasses < 2 then
      raise('nn.ClassSimplexCriterion: wants at least 2 classes, got ' .. tostring(nClasses))
   end
   self.nClasses = nClasses
   self.simplex = torch.zeros(nClasses, nClasses)
   self.simplex:narrow(2, 1, nClasses - 1):copy(corners(nClasses - 1))
end

-- The corners of the target's classes, in the input's form.
local function cornersOf(self, input, target)
   if type(target) == 'number' then target = torch.LongTensor{target} end
   local index = nn.utils.sameSide(self, '_classes', target, input)
   local numbers = nn.utils.indexTensor(self._numbers, input)
   self._numbers = numbers
   numbers:resize(index:size()):copy(index)
   return self.simplex:index(1, numbers:view(-1))
end

function ClassSimplexCriterion:updateLoss(input, target)
   return parent.updateLoss(self, input, cornersOf(self, input, target))
end

function ClassSimplexCriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, cornersOf(self, input, target))
end

--- How near each input is to every corner: scalar products.
-- @function nn.ClassSimplexCriterion:getPredictions
-- @as criterion
-- @within nn criterions
-- @param input tensor: N x classes, or a vector
-- @return N x classes
-- @usage nn.ClassSimplexCriterion(3):getPredictions(torch.ones(2, 3)):size() --> 2x3
function ClassSimplexCriterion:getPredictions(input)
   local x = input:dim() == 1 and input:view(1, -1) or input
   return torch.mm(x, self.simplex:t())
end

--- The class whose corner is nearest, for every row.
-- @function nn.ClassSimplexCriterion:getTopPrediction
-- @as criterion
-- @within nn criterions
-- @param input tensor: N x classes, or a vector
-- @return a vector of N classes
-- @usage local c = nn.ClassSimplexCriterion(3) return c:getTopPrediction(c.simplex[2]) --> [2]
function ClassSimplexCriterion:getTopPrediction(input)
   local _, index = torch.max(self:getPredictions(input), 2)
   return index:view(-1)
end

function ClassSimplexCriterion:type(typename, tensorCache)
   if typename then self._numbers, self._classes = nil, nil end
   return parent.type(self, typename, tensorCache)
end

return ClassSimplexCriterion
