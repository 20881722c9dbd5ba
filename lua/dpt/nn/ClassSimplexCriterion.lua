--- nn.ClassSimplexCriterion(nClasses): the mean squared error (nn.MSECriterion) between the input
-- and the vertex of a regular simplex that represents the target's class.
-- Invariant: all vertices have length 1 and equal distances from each other; their last component
-- is 0.
-- @function nn.ClassSimplexCriterion
-- @within nn criterions
-- @as criterion
-- @param nClasses number of classes, at least 2
-- @return a criterion; forward takes B x nClasses, and B classes, returns the loss
-- @usage nn.ClassSimplexCriterion(3):forward(torch.zeros(1, 3), torch.Tensor{1}) --> 0.3333

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local ClassSimplexCriterion, parent = torch.class('nn.ClassSimplexCriterion', 'nn.MSECriterion')

-- Returns the n + 1 vertices of a regular simplex in n dimensions, centred, of length 1.
local function corners(n)
   local a = torch.zeros(n + 1, n)
   for k = 1, n do
      local square = 0
      for j = 1, k - 1 do square = square + a[k][j] ^ 2 end
      a[k][k] = math.sqrt(1 - square)
      -- the dot product with every later vertex is -1/n
      local c = (a[k][k] ^ 2 - 1 - 1 / n) / a[k][k]
      for i = k + 1, n + 1 do a[i][k] = c end
   end
   return a
end

function ClassSimplexCriterion:__init(nClasses)
   parent.__init(self)
   if type(nClasses) ~= 'number' or nClasses < 2 then
      raise("nn.ClassSimplexCriterion: argument 'nClasses' is " .. tostring(nClasses)
         .. ', wanted 2 or more')
   end
   self.nClasses = nClasses
   self.simplex = torch.zeros(nClasses, nClasses)
   self.simplex:narrow(2, 1, nClasses - 1):copy(corners(nClasses - 1))
end

-- Returns the vertices of the target's classes, one per row.
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

--- Returns the dot product of each input with each class's vertex.
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

--- Returns for each row the class with the nearest vertex.
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
