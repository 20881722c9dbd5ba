--- nn.MM(transA, transB): the matrix product A B of a pair {A, B}, or of each pair of two batches.
-- Invariant: with transA (transB) A (B) is transposed before the product.
-- @function nn.MM
-- @within nn linear
-- @as layer
-- @param transA true: A is transposed
-- @param transB true: B is transposed
-- @return a module; forward: {B x n x k, B x k x m} or {n x k, k x m} -> B x n x m or n x m
-- @usage nn.MM():forward{torch.ones(2, 3), torch.ones(3, 4)} --> [3 3 3 3 3 3 3 3]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local MM, parent = torch.class('nn.MM', 'nn.Module')

function MM:__init(transA, transB)
   parent.__init(self)
   self.transA = transA or false
   self.transB = transB or false
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

-- Computes result = a b, of matrices or batches of matrices.
local function product(result, a, b)
   if a:dim() == 2 then
      result:resize(a:size(1), b:size(2))
      return torch.mm(result, a, b)
   end
   result:resize(a:size(1), a:size(2), b:size(3))
   return torch.bmm(result, a, b)
end

local function turned(t, yes)
   return yes and t:transpose(t:dim() - 1, t:dim()) or t
end

--- Returns the two matrices, or batches, transposed as the options say; raises if they do not fit.
-- @function nn.MM:operands
-- @as author
-- @param input table: two tensors
-- @return two tensors
-- @usage nn.MM(true):operands{torch.ones(2, 3), torch.ones(2, 4)}:size() --> 3x2
function MM:operands(input)
   local a, b = input[1], input[2]
   local dims = a and b and a:dim() == b:dim() and a:dim() or 0
   if dims ~= 2 and dims ~= 3 then
      raise("nn.MM: argument 'input' must be a table of two matrices or of two batches of matrices")
   end
   local x, y = turned(a, self.transA), turned(b, self.transB)
   if x:size(dims) ~= y:size(dims - 1) or dims == 3 and x:size(1) ~= y:size(1) then
      fail('nn.MM: size mismatch: cannot multiply matrices of size %s and %s',
         table.concat(x:size():totable(), 'x'), table.concat(y:size():totable(), 'x'))
   end
   return x, y
end

function MM:updateOutput(input)
   local a, b = self:operands(input)
   product(self.output, a, b)
   return self.output
end

function MM:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   local a, b = self:operands(input)
   if self.transA then
      product(self.gradInput[1], b, turned(gradOutput, true))
   else
      product(self.gradInput[1], gradOutput, turned(b, true))
   end
   if self.transB then
      product(self.gradInput[2], turned(gradOutput, true), a)
   else
      product(self.gradInput[2], turned(a, true), gradOutput)
   end
   return self.gradInput
end

return MM
