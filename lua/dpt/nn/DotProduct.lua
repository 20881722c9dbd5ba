--- nn.DotProduct(): the dot product of two vectors, or of corresponding rows of two matrices.
-- Invariant: output has one number per row.
-- @function nn.DotProduct
-- @within nn linear
-- @as layer
-- @return a module; forward: {B x n, B x n} or {n, n} -> B or 1
-- @usage nn.DotProduct():forward{torch.Tensor{1, 2}, torch.Tensor{3, 4}} --> [11]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local DotProduct, parent = torch.class('nn.DotProduct', 'nn.Module')

function DotProduct:__init()
   parent.__init(self)
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

function DotProduct:updateOutput(input)
   local products = torch.cmul(input[1], input[2])
   local last = products:dim()
   local sums = products:sum(last)
   self.output:resize(last == 1 and 1 or products:size(1)):copy(sums)
   return self.output
end

function DotProduct:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.tensorsLike(self.gradInput, input)
   local a, b = input[1], input[2]
   local spread
   if a:dim() == 1 then
      spread = gradOutput:contiguous():view(1):expandAs(a)
   else
      spread = gradOutput:contiguous():view(a:size(1), 1):expandAs(a)
   end
   self.gradInput[1]:resizeAs(a):copy(b):cmul(spread)
   self.gradInput[2]:resizeAs(b):copy(a):cmul(spread)
   return self.gradInput
end

return DotProduct
