--- nn.MV(trans): the product M v of a pair {matrix, vector}, or of each pair of two batches.
-- Invariant: with trans the matrix is transposed before the product.
-- @function nn.MV
-- @within nn linear
-- @as layer
-- @param trans true: the matrix is transposed
-- @return a module; forward: {B x n x k, B x k} or {n x k, k} -> B x n or n
-- @usage nn.MV():forward{torch.Tensor{{1, 2}, {3, 4}}, torch.Tensor{1, 10}} --> [21 43]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local raise = require('dpt.ffi').raise

local MV, parent = torch.class('nn.MV', 'nn.Module')

function MV:__init(trans)
   parent.__init(self)
   self.trans = trans or false
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

--- Returns matrix and vector as batches, the matrix transposed as the option says.
-- @function nn.MV:operands
-- @as author
-- @param input table: a matrix and a vector, or batches of them
-- @return two tensors
-- @usage (nn.MV():operands{torch.ones(2, 3), torch.ones(3)}):size() --> 1x2x3
function MV:operands(input)
   local m, v = input[1], input[2]
   if not m or not v or m:dim() ~= v:dim() + 1 or m:dim() > 3 then
      raise("nn.MV: argument 'input' must be a table of a matrix and a vector, or of batches of"
         .. ' them')
   end
   if m:dim() == 2 then
      m, v = m:contiguous():view(1, m:size(1), m:size(2)), v:contiguous():view(1, -1)
   end
   return self.trans and m:transpose(2, 3) or m, v
end

function MV:updateOutput(input)
   local m, v = self:operands(input)
   local result = torch.bmm(m, v:contiguous():view(v:size(1), v:size(2), 1))
   if input[1]:dim() == 2 then
      self.output:resize(m:size(2))
   else
      self.output:resize(m:size(1), m:size(2))
   end
   self.output:copy(result)
   return self.output
end

function MV:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   local m, v = self:operands(input)
   local n = m:size(1)
   local column = gradOutput:contiguous():view(n, m:size(2), 1)
   local matrix = torch.bmm(column, v:contiguous():view(n, 1, v:size(2)))
   if self.trans then matrix = matrix:transpose(2, 3) end
   self.gradInput[1]:resizeAs(input[1]):copy(matrix)
   self.gradInput[2]:resizeAs(input[2]):copy(torch.bmm(m:transpose(2, 3), column))
   return self.gradInput
end

return MV
