--- nn.CosineDistance(): the cosine similarity a b / (|a| |b|) of two vectors, or of the rows of two
-- matrices.
-- Invariant: 1e-12 is added to squared norms, so the cosine of a zero vector is 0.
-- @function nn.CosineDistance
-- @within nn linear
-- @as layer
-- @return a module; forward: {B x n, B x n} or {n, n} -> B or 1
-- @usage nn.CosineDistance():forward{torch.Tensor{1, 0}, torch.Tensor{0, 1}} --> [0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail
local describeSize = require('dpt.tensor.core').describeSize

local CosineDistance, parent = torch.class('nn.CosineDistance', 'nn.Module')

function CosineDistance:__init()
   parent.__init(self)
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

local function rows(t)
   if t:dim() == 1 then return t:contiguous():view(1, -1) end
   return t
end

-- Returns the inputs as two matrices; raises if their sizes differ or they are not matrices.
local function pair(input)
   local a, b = rows(input[1]), rows(input[2])
   if a:dim() ~= 2 or not a:isSameSizeAs(b) then
      fail('nn.CosineDistance: wants vectors or matrices of one size, got a %s and a %s',
         describeSize(input[1]), describeSize(input[2]))
   end
   return a, b
end

-- Returns the dot products a b, a a + 1e-12 and b b + 1e-12 of each row (N x 1).
local function products(a, b)
   return torch.cmul(a, b):sum(2), torch.cmul(a, a):sum(2):add(1e-12),
      torch.cmul(b, b):sum(2):add(1e-12)
end

function CosineDistance:updateOutput(input)
   local a, b = pair(input)
   local ab, aa, bb = products(a, b)
   local cosines = ab:cdiv(aa:cmul(bb):sqrt())
   self.output:resize(a:size(1)):copy(cosines)
   return self.output
end

-- d/da = b / (|a| |b|) - (ab / (|a| |b|)) a / |a|^2
function CosineDistance:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   local a, b = pair(input)
   local ab, aa, bb = products(a, b)
   local inverse = torch.cmul(aa, bb):sqrt():pow(-1)
   local cosines = ab:cmul(inverse)
   local g = gradOutput:contiguous():view(-1, 1):expandAs(a)
   for i, both in ipairs{{a, b, aa}, {b, a, bb}} do
      local own, other, square = both[1], both[2], both[3]
      local along = torch.cdiv(cosines, square):expandAs(own)
      self.gradInput[i]:resizeAs(own):copy(other):cmul(inverse:expandAs(own))
         :addcmul(-1, along, own):cmul(g)
      if input[i]:dim() == 1 then self.gradInput[i]:resize(input[i]:size()) end
   end
   return self.gradInput
end

return CosineDistance
