--- nn.RMSNorm(normalizedShape, eps, elementwiseAffine): divides each row of its input by its root
-- mean square: y = x / sqrt(mean(x^2) + eps) * weight. A row has the last dimensions of the input,
-- of the sizes normalizedShape.
-- Invariant: there is no bias.
-- @function nn.RMSNorm
-- @within nn normalization
-- @as layer
-- @follows PyTorch's RMSNorm
-- @param normalizedShape number, table or LongStorage: sizes of the last dimensions
-- @param eps? number: added to the mean square (the distance from 1 to the next number of the type:
--    1.19e-7 for floats, 2.22e-16 for doubles)
-- @param elementwiseAffine? false: no weight
-- @return a module; forward: any leading sizes x normalizedShape -> the same size
-- @raise if the last sizes of the input are not normalizedShape
-- @usage nn.RMSNorm(2, 0):forward(torch.Tensor{{3, 3}, {1, 7}}) --> [1 1 0.2 1.4]

local torch = require 'dpt.tensor'
local normalization = require 'dpt.nn.normalization'

local RMSNorm, parent = torch.class('nn.RMSNorm', 'nn.Module')

function RMSNorm:__init(normalizedShape, eps, elementwiseAffine)
   parent.__init(self)
   self.normalizedShape = normalization.shapeOf(self, normalizedShape)
   self.eps = eps
   if elementwiseAffine ~= false then
      normalization.allocate(self, self.normalizedShape, false)
   end
end

normalization.define(RMSNorm, parent, normalization.splitRows, 1)

RMSNorm.__tostring__ = normalization.text

return RMSNorm
