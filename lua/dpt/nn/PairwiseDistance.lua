--- nn.PairwiseDistance(p): the p-norm |x1 - x2|_p of two vectors, or of corresponding rows of two
-- matrices.
-- Invariant: the gradient is 0 where the distance is 0.
-- @function nn.PairwiseDistance
-- @within nn linear
-- @as layer
-- @param p the exponent of the norm (2)
-- @return a module; forward: {B x n, B x n} or {n, n} -> B or 1
-- @usage nn.PairwiseDistance(2):forward{torch.Tensor{0, 0}, torch.Tensor{3, 4}} --> [5]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local PairwiseDistance, parent = torch.class('nn.PairwiseDistance', 'nn.Module')

function PairwiseDistance:__init(p)
   parent.__init(self)
   self.gradInput = {torch.Tensor(), torch.Tensor()}
   self.norm = p or 2
end

local function difference(input)
   local d = torch.add(input[1], -1, input[2])
   return d:dim() == 1 and d:view(1, -1) or d
end

function PairwiseDistance:updateOutput(input)
   local d = difference(input)
   self.output:resize(d:size(1)):copy(d:norm(self.norm, 2))
   return self.output
end

-- d|v|_p/dv = v |v_i|^(p-2) / |v|_p^(p-1)
function PairwiseDistance:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   local d = difference(input)
   local n = d:size(1)
   local gradient
   if self.norm == 1 then
      gradient = torch.sign(d)
   else
      gradient = torch.abs(d):pow(self.norm - 1):cmul(torch.sign(d))
      local lengths = torch.add(self.output, 1e-6):pow(self.norm - 1):view(n, 1)
      gradient:cdiv(lengths:expandAs(gradient))
   end
   gradient:cmul(gradOutput:contiguous():view(n, 1):expandAs(gradient))
   self.gradInput[1]:resizeAs(input[1]):copy(gradient)
   self.gradInput[2]:resizeAs(input[2]):mul(self.gradInput[1], -1)
   return self.gradInput
end

return PairwiseDistance
